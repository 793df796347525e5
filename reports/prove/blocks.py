"""The sections about a network: its blocks, their formulas, its size, its errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from attncert.constructions.network.retrieval import Retrieval
from attncert.reports.prove.formula import formulas
from attncert.reports.report import Table
from attncert.reports.words.jsonable import about
from attncert.verify.claims import ids
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.proof import Proof
from attncert.verify.outputs.error import interval

_SHOWN = 20  # examples in a table
MARGIN = (
    "Margin: half the smallest difference between an output's squared distance to another label "
    "and to its own; for one-hot labels, the output at the label minus the largest other output."
)


def context(proof: Proof) -> dict[str, object]:
    network = proof.network
    seed = getattr(proof.question, "seed", None)
    return {
        "blocks": _formulas(proof),
        "price": proof.trace[ids.PARAMETERS].numbers if network else None,
        "inputs": _inputs(proof),
        "run": [] if seed is None else [("random seed", seed)],
        "before": len(proof.data.origin.blocks),
        "tables": list(_tables(proof)),
    }


def exhibits(proof: Proof, rows: object) -> dict[str, object]:
    """The exhibits of answer.json. rows: the blocks, as in `context`."""
    return {
        "data": about(proof.data),
        "construction": proof.construction.name,
        "blocks": rows,
    }


def idle(proof: Proof) -> tuple[str, ...]:
    """Sentences for a terminal about blocks and units that do nothing."""
    claims = (proof.trace.get(name) for name in (ids.IDLE_BLOCKS, ids.IDLE_UNITS))
    return tuple(f"{x.statement.removesuffix('.')} ({x.level.value})." for x in claims if x)


def _inputs(proof: Proof) -> str:
    """The inputs of the command besides DATA."""
    if isinstance(proof.built, Retrieval):
        return "Its distinct queries are the patterns; the SHA-256 is that of the patterns as data."
    return "WEIGHTS is the file of the network." if proof.question.command == "layer" else ""


def _tables(proof: Proof) -> Iterator[Table]:
    """The table of errors, unless the outputs are only tested for equality."""
    if ids.LAYER_ERROR not in proof.trace:
        return
    errors = proof.trace[ids.LAYER_ERROR].numbers["errors"]
    margins = proof.claim.numbers.get("margins")
    size = [-Decimal(x[1]) for x in errors] if margins is None else [Decimal(x[0]) for x in margins]
    worst = sorted(range(len(errors)), key=lambda t: (size[t], t))
    more = f" {len(worst) - _SHOWN} more are in the JSON." if len(worst) > _SHOWN else ""
    columns = {"example": range(len(errors)), "error": [interval(*x) for x in errors]}
    columns |= _of_patterns(proof)
    if margins is not None:
        columns |= {"margin": [interval(*x) for x in margins]}
        more += f" {MARGIN}"
    yield Table(
        "The errors",
        tuple(columns),
        tuple(tuple(str(column[t]) for column in columns.values()) for t in worst[:_SHOWN]),
        f"The largest difference between an output and its label, worst examples first.{more}",
    )


def _of_patterns(proof: Proof) -> dict[str, Sequence[object]]:
    if not isinstance(proof.built, Retrieval):
        return {}
    numbers = proof.trace[ClaimId("step.bound")].numbers
    gaps, bounds = numbers["gaps"], numbers["bounds"]
    return {"example": proof.built.examples, r"$\Delta_i$": gaps, "bound": bounds}


def _formulas(proof: Proof) -> list[Any]:
    """A row for each block: its formula with sizes, and its purpose."""
    network = proof.network
    purposes = proof.construction.purposes_of(network) if network else ()
    return list(formulas((block, purpose) for some, purpose in purposes for block in some))
