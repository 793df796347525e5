"""What `attncert audit` runs, in the order of its report. A section is one line here."""

from __future__ import annotations

from verify import impossibility_section, user_data
from verify.audit import Scope, Section
from verify.defects import section as defects
from verify.edge_cases import section as edge_cases
from verify.hypotheses import section as hypotheses

__all__ = ["sections"]


def sections(scope: Scope) -> tuple[Section, ...]:
    """The sections that this scope calls for: those about the user's input come first."""
    given: tuple[Section, ...] = (user_data.section,)
    bundled: tuple[Section, ...] = (
        edge_cases.section, hypotheses.section, impossibility_section.section, defects.section
    )  # fmt: skip
    return (*(given if scope.data is not None else ()), *bundled)
