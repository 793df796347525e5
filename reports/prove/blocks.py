"""What the report of a proof says of a network: its blocks, their formulas, its price."""

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
from attncert.verify.layer.error import interval

_SHOWN = 20  # examples in a table
MARGIN = (
    "Margin: half of how much nearer, in squared distance, an output is to its own label than to "
    "any other label of the data; for one-hot labels, how far the output at the label exceeds the "
    "largest other one."
)


def context(proof: Proof) -> dict[str, object]:
    """What the template of blocks uses."""
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
    """What answer.json shows of it beside its claims. rows: as in `context`."""
    return {
        "data": about(proof.data),
        "construction": proof.construction.name,
        "blocks": rows,
    }


def idle(proof: Proof) -> tuple[str, ...]:
    """What a terminal says of blocks and units that do nothing."""
    said = (proof.trace.get(name) for name in (ids.IDLE_BLOCKS, ids.IDLE_UNITS))
    return tuple(f"{x.statement.removesuffix('.')} ({x.level.value})." for x in said if x)


def _inputs(proof: Proof) -> str:
    """What the words of the command are, beside the data."""
    if isinstance(proof.built, Retrieval):
        return "Its distinct queries are the patterns; the SHA-256 is of these, as data."
    return "WEIGHTS is the file of the network." if proof.question.command == "layer" else ""


def _tables(proof: Proof) -> Iterator[Table]:
    """Of errors, where the outputs are not compared for equality alone."""
    if ids.LAYER_ERROR not in proof.trace:
        return
    errors = proof.trace[ids.LAYER_ERROR].numbers["errors"]
    margins = proof.claim.numbers.get("margins")
    size = [-Decimal(x[1]) for x in errors] if margins is None else [Decimal(x[0]) for x in margins]
    worst = sorted(range(len(errors)), key=lambda t: (size[t], t))
    more = f" {len(worst) - _SHOWN} more stand in the JSON." if len(worst) > _SHOWN else ""
    columns = {"example": range(len(errors)), "error": [interval(*x) for x in errors]}
    columns |= _of_patterns(proof)
    if margins is not None:
        columns |= {"margin": [interval(*x) for x in margins]}
        more += f" {MARGIN}"
    yield Table(
        "The errors",
        tuple(columns),
        tuple(tuple(str(column[t]) for column in columns.values()) for t in worst[:_SHOWN]),
        f"The largest difference of an output from its label, worst examples first.{more}",
    )


def _of_patterns(proof: Proof) -> dict[str, Sequence[object]]:
    """The gap and the bound of each pattern of a retrieval."""
    if not isinstance(proof.built, Retrieval):
        return {}
    numbers = proof.trace[ClaimId("step.bound")].numbers
    gaps, bounds = numbers["gaps"], numbers["bounds"]
    return {"example": proof.built.examples, r"$\Delta_i$": gaps, "bound": bounds}


def _formulas(proof: Proof) -> list[Any]:
    """A row for each block: its formula, its sizes, and what it is for."""
    network = proof.network
    served = proof.construction.purposes_of(network) if network else ()
    return list(formulas((block, purpose) for some, purpose in served for block in some))
