"""What an audit looks at, in order: one line for each section."""

from __future__ import annotations

from verify import layer_section, user_data
from verify.audit import Scope, Section
from verify.defects import section as defects
from verify.edge_cases import section as edge_cases
from verify.hypotheses import section as hypotheses
from verify.tightness import section as impossibility

__all__ = ["sections"]


def sections(scope: Scope) -> tuple[Section, ...]:
    """The sections that this scope calls for: those about the user's input come first."""
    if scope.layer is not None:  # somebody's weights: the audit is about them alone
        return (layer_section.section,)
    given = (user_data.section,) if scope.data is not None else ()
    return (
        *given,
        edge_cases.section,
        hypotheses.section,
        impossibility.section,
        defects.section,
    )
