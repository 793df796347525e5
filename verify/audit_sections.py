"""What `attncert audit` runs, in the order of its report. A section is one line here."""

from __future__ import annotations

from verify.audit import Scope, Section

__all__ = ["sections"]


def sections(scope: Scope) -> tuple[Section, ...]:
    """The sections that this scope calls for: those about the user's input come first."""
    bundled: tuple[Section, ...] = ()
    given: tuple[Section, ...] = ()
    return (*(given if scope.data is not None else ()), *bundled)
