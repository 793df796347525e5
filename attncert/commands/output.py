"""What every command prints in the same way."""

from __future__ import annotations

import json
from typing import Any

import typer


def print_json(content: dict[str, Any]) -> None:
    """JSON alone on stdout, keys sorted."""
    typer.echo(json.dumps(content, sort_keys=True, indent=1))


class Interrupted(Exception):
    """Ctrl-C where something was kept: the message says what."""
