"""The registry of constructions. Third-party constructions are registered by a call or, for one
run, by `--construction package.module:NAME`.
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
from attncert.verify.questions.constructions import RETRIEVAL
from attncert.verify.statements import affine, generic, networks, paper, width_one
from attncert.verify.statements.construction import Construction

_LAYERS = (paper.CONSTRUCTION, width_one.CONSTRUCTION, affine.CONSTRUCTION, generic.CONSTRUCTION)
_OURS = (*_LAYERS, *networks.METHODS)
_registered: dict[str, Construction] = {x.name: x for x in _OURS}


def register(method: Construction) -> Construction:
    """Register a construction by its name, and return it.

    A second construction of the same name replaces the first, for example when a notebook cell is
    run again. Raises InputError if the name is that of a built-in construction. Source:
    docs/constructions.md.

    >>> register(method("paper")) is method("paper")
    True
    >>> register("paper")
    Traceback (most recent call last):
    attncert.InputError: construction: must be a Construction, not of type str
    """
    if not isinstance(method, Construction):
        raise InputError("construction", "a Construction", f"of type {type(method).__name__}")
    if known(method.name) in _OURS and method not in _OURS:
        raise InputError("construction", "a name that is not in use", method.name)
    _registered[method.name] = method
    return method


def method(name: str) -> Construction:
    """The construction with this name, or the one at package.module:NAME. Raises InputError."""
    if match := known(name):
        return match
    if ":" in name:
        return _imported(name)
    raise InputError("construction", f"{', '.join(names())} or MODULE:NAME", name)


def known(name: str) -> Construction | None:
    return _registered.get(name)


def methods() -> tuple[Construction, ...]:
    """The registered constructions of one layer, in the order of registration."""
    return tuple(x for x in _registered.values() if x.layer is not None)


def network_methods() -> tuple[Construction, ...]:
    """The constructions that output the labels, except retrieval."""
    return tuple(x for x in _registered.values() if x.layer is None and x.name != RETRIEVAL)


def names() -> tuple[str, ...]:
    return tuple(_registered)


def foreign(method: Construction) -> bool:
    """Whether this is a third-party construction."""
    return _registered.get(method.name) is method and method not in _OURS


@contextmanager
def errors_of(method: Construction, part: str, data: Dataset) -> Iterator[None]:
    """A context manager for the code of a construction. If third-party code changes the data or
    raises an error other than HypothesisFails, an InputError names the construction, the part
    and the line."""
    before = data.hashed() if foreign(method) else ""
    try:
        try:
            yield
        finally:  # also after HypothesisFails
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
    """The last line of third-party code in the traceback."""
    ours = str(Path(__file__).parents[2])
    frames = traceback.extract_tb(error.__traceback__)
    foreign = [
        frame
        for frame in frames
        if not frame.filename.startswith(ours) and Path(frame.filename).is_file()
    ]
    return f" ({Path(foreign[-1].filename).name}, line {foreign[-1].lineno})" if foreign else ""


def _imported(place: str) -> Construction:
    """Import and register the construction at package.module:NAME."""
    module, _, attribute = place.partition(":")
    try:
        method = getattr(_module(module), attribute)
    except (InputError, KeyboardInterrupt):  # InputError names the field of the record
        raise
    except BaseException as error:  # a module can raise anything
        reason = f"{place} ({error_text(error)})"
        raise InputError("construction", "a module and a name in it", reason) from error
    return _method_of(method, place)


def _module(name: str) -> ModuleType:
    """Import a module, which may be in the current folder. Afterwards that folder is last in the
    path, so that no file there shadows a library."""
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)
        if here not in sys.path:
            sys.path.append(here)


def source_of(place: str) -> Path | None:
    """The file of a construction given as module:NAME, or None if `place` is only a name."""
    module = sys.modules.get(place.partition(":")[0]) if ":" in place else None
    file = getattr(module, "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def _method_of(method: object, place: str) -> Construction:
    if not isinstance(method, Construction):
        kind = f"of type {type(method).__name__} ({place})"
        raise InputError("construction", "a Construction", kind)
    return method if known(method.name) is method else register(method)
