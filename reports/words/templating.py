"""The one way in which templates are read: no escaping of their own, nothing undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jinja2

Filter = Callable[..., Any]
TEMPLATES = Path(__file__).parents[1] / "templates"


def render(template: str, filters: Mapping[str, Filter], context: Mapping[str, Any]) -> str:
    """The template with these filters and names; an undefined name is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= filters
    return environment.get_template(template).render(context)
