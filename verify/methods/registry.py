"""The registry: which constructions there are, and how another one is added.

The constructions of this project are named in `names.py`. A third-party one is registered by a
call, or for one run by `--construction package.module:NAME`.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import Broken, HypothesisFails, InputError
from attncert.constructions.foreign import error_text
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.names import LAYERS, RETRIEVAL
from attncert.verify.network import methods as networks

_PLACES = (f"{__package__}.{name.replace('-', '_')}" for name in LAYERS)
_OURS = (*(importlib.import_module(place).CONSTRUCTION for place in _PLACES), *networks.METHODS)

_registered: dict[str, Construction] = {}


def register(method: Construction) -> Construction:
    """Make a construction known by its name. Returns it, so that it can stand in an assignment.

    A second one of the same name takes the place of the first (a notebook's cell is run again), but
    none of ours. Raises InputError for a name that is not made of lower-case words joined by
    hyphens, or that another construction has. Source: docs/constructions.md.

    >>> register(method("paper")) is method("paper")
    True
    >>> register("paper")
    Traceback (most recent call last):
    attncert.InputError: construction: must be a Construction, not of type str
    """
    if not isinstance(method, Construction):
        raise InputError("construction", "a Construction", f"of type {type(method).__name__}")
    if known(method.name) in _OURS and method not in _OURS:
        raise InputError("construction", "a name that is still free", method.name)
    _registered[method.name] = method
    return method


def method(name: str) -> Construction:
    """The construction of this name, or place in the form package.module:NAME.

    Raises InputError where there is none.
    """
    match = known(name)
    if match is None and ":" in name:
        return _imported(name)
    if match is None:
        named, match = names(), known(name)
    if match is None:
        raise InputError("construction", f"{', '.join(named)} or MODULE:NAME", name)
    return match


def known(name: str) -> Construction | None:
    """The registered construction of this name, if there is one."""
    return _registered.get(name)


def methods() -> tuple[Construction, ...]:
    """Those of one layer that are registered, in that order, of installed packages too."""
    return tuple(x for x in _registered.values() if x.layer is not None)


def network_methods() -> tuple[Construction, ...]:
    """The others, which output the labels."""
    networks = (x for x in _registered.values() if x.layer is None)
    return tuple(x for x in networks if x.name != RETRIEVAL)


def names() -> tuple[str, ...]:
    return tuple(_registered)


def title_of(method: Construction) -> str:
    """In a report: its title, or its name if it has none."""
    return method.title or method.name


def foreign(method: Construction) -> bool:
    """Whether this is a third-party construction."""
    return _registered.get(method.name) is method and method not in _OURS


@contextmanager
def errors_of(method: Construction, part: str, data: Dataset) -> Iterator[None]:
    """Around what a construction does, or what it said is joined. An error of a third-party one,
    other than the two that mean something, is an InputError with its name, the part and the line;
    an error of ours passes. So is a change of the data, of which it would then be a proof."""
    before = data.hashed() if foreign(method) else ""
    try:
        try:
            yield
        finally:  # of a hypothesis that fails, too
            if before and data.hashed() != before:
                raise ValueError("it changes the data")
    except (Broken, HypothesisFails, KeyboardInterrupt):
        raise
    except BaseException as error:
        if not foreign(method):
            raise
        whose = f"{part} of construction {method.name}"
        raise Broken(whose, error_text(error) + _line(error)) from error


def _line(error: BaseException) -> str:
    """The last line of third-party code on the way to the error."""
    ours = str(Path(__file__).parents[1])
    frames = traceback.extract_tb(error.__traceback__)
    foreign = [frame for frame in frames if not frame.filename.startswith(ours)]
    return f" ({Path(foreign[-1].filename).name}, line {foreign[-1].lineno})" if foreign else ""


def _imported(place: str) -> Construction:
    """From "package.module:NAME": imported, which runs the module, and registered."""
    module, _, attribute = place.partition(":")
    try:
        method = getattr(_module(module), attribute)
    except (Exception, SystemExit) as error:  # whatever a module can raise
        reason = f"{place} ({error_text(error)})"
        raise InputError("construction", "a module and a name in it", reason) from error
    return _method_of(method, place)


def _module(name: str) -> ModuleType:
    """Imported, from the current folder too. That comes first while the module is read, as with
    `python -m`, and last from then on: no file there may stand in for a library that is to come."""
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)
        if here not in sys.path:
            sys.path.append(here)


def source_of(place: str) -> Path | None:
    """The file of a construction that is named by its place, module:NAME; None for every other."""
    module = sys.modules.get(place.partition(":")[0]) if ":" in place else None
    file = getattr(module, "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def _method_of(method: object, place: str) -> Construction:
    if not isinstance(method, Construction):
        raise InputError(
            "construction", "a Construction", f"of type {type(method).__name__} ({place})"
        )
    return method if known(method.name) is method else register(method)


for _method in _OURS:
    register(_method)
