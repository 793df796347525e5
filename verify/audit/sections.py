"""What an audit looks at, in order: one line for each section."""

from __future__ import annotations

from attncert.verify.audit import edge_cases, impossibility, user_data
from attncert.verify.audit.hypotheses import section as hypotheses
from attncert.verify.audit.records import Scope, Section


def sections(scope: Scope) -> tuple[Section, ...]:
    """The sections that this scope calls for: those about the user's input come first."""
    given = (user_data.section, impossibility.section) if scope.data is not None else ()
    return (*given, edge_cases.section, hypotheses.section)
