"""The registry: which constructions there are, and how another one is added.

A construction of this project is one line in `_OURS`. Somebody else's is registered by a call, by
the entry-point group `attncert.constructions`, or for one run by `--construction
package.module:NAME`.
"""

from __future__ import annotations

import importlib
import re
from importlib import metadata

from attncert.constructions.errors import InputError
from attncert.verify.methods import generic, paper, width_one
from attncert.verify.methods.method import Method

_OURS = (paper.METHOD, width_one.METHOD, generic.METHOD)
_GROUP = "attncert.constructions"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_registered: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Make a construction known by its name. Returns it, so that it can stand in an assignment.

    Raises InputError for a name that is not made of lower-case words joined by hyphens, or that
    another construction has, in certificates included.
    """
    if not _NAME.fullmatch(method.name):
        raise InputError("construction", "named in lower case, like my-heads", method.name)
    for name in (method.name, *method.aliases, method.certificate_name):
        other = known(name)
        if other is not None and other is not method:
            raise InputError("construction", "a name that is still free", name)
    _registered[method.name] = method
    return method


def method(name: str) -> Method:
    """The construction of this name, alias, or place in the form package.module:NAME.

    Raises InputError where there is none.
    """
    found = known(name)
    if found is None and ":" in name:
        return _imported(name)
    if found is None:
        _discover()
        found = known(name)
    if found is None:
        raise InputError("--construction", f"{' or '.join(names())}, or MODULE:NAME", name)
    return found


def known(name: str) -> Method | None:
    """The registered construction of this name, alias, or name in certificates; None without."""
    for known in _registered.values():
        if name in (known.name, known.certificate_name, *known.aliases):
            return known
    return None


def methods() -> tuple[Method, ...]:
    """All that are registered, in that order."""
    return tuple(_registered.values())


def names() -> tuple[str, ...]:
    return tuple(_registered)


def _imported(place: str) -> Method:
    """From "package.module:NAME": imported, which runs the module, and registered."""
    module, _, attribute = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            "--construction", "a module and a name in it", f"{place} ({error})"
        ) from None
    if not isinstance(found, Method):
        raise InputError(
            "--construction", "the place of a Method", f"{place}, a {type(found).__name__}"
        )
    return found if known(found.name) is found else register(found)


def _discover() -> None:
    """Constructions that installed packages announce. An entry point is a Method, or raises."""
    for entry in metadata.entry_points(group=_GROUP):
        found = entry.load()
        if isinstance(found, Method) and known(found.name) is None:
            register(found)


for _method in _OURS:
    register(_method)
