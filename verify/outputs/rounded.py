"""The outputs of a network as a machine computes them in float32 or float64 (rounding.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from flint import arb, arb_mat, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.network import Network
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.outputs.batches import AT_ONCE, evaluated
from attncert.verify.outputs.error import Limit, judged_in_balls, measured, spread, statement_of
from attncert.verify.outputs.rounding import (
    FORMATS,
    FUNCTION,
    SMOOTH_FUNCTION,
    Floats,
    Format,
)

_SOURCE = "ours: Higham's model (verify/outputs/rounding.py)"


def computed(network: Network, data: Dataset, form: Format) -> arb_mat:
    """The outputs as computed in this format, as T×m balls. The shapes of network and data must
    agree. Raises Inexact."""
    found, groups = dict[int, list[arb]](), defaultdict[tuple[int, int], list[int]](list)
    step = max(1, AT_ONCE // (data.n * data.d))
    for t in range(data.T):  # all contexts of one evaluation have the same length
        length = 0 if data.shared else int(data.context(t).nrows())
        groups[length, t // step].append(t)
    queries = data.query_matrix.tolist()
    for examples in groups.values():
        contexts = [data.context(t) for t in ([0] if data.shared else examples)]
        asked = _stored([fmpq_mat([queries[t]]) for t in examples], form)
        centre, radius = evaluated(network.blocks, _stored(contexts, form), asked)
        if not np.isfinite(radius).all():
            raise Inexact(f"an overflow in {form.name}, a tie or a root of 0 is not excluded")
        for t, *row in zip(examples, centre.tolist(), radius.tolist(), strict=True):
            found[t] = list(map(arb, *row))
    return arb_mat([found[t] for t in range(data.T)])


def _stored(matrices: Sequence[fmpq_mat], form: Format) -> Floats:
    """The matrices of several inputs, rounded to this format, as one array of balls."""
    entries = [x for row in zip(*(m.entries() for m in matrices), strict=True) for x in row]
    made = form.stored(entries, int(matrices[0].nrows()), int(matrices[0].ncols()), len(matrices))
    return made.both(lambda x: x[..., 0])


def computed_claims(network: Network, data: Dataset, limit: Limit, name: str) -> list[Claim]:
    """The assumed model of the machine, and the claim that outputs computed in the format of this
    name satisfy the limit."""
    form = FORMATS[name]
    model = Claim(
        ids.MACHINE,
        f"Assumed: the machine rounds each operation to {name}, sums in any order, and computes "
        "functions to within a few units in the last place.",
        Level.ASSUMED,
        numbers={"u": f"2^-{form.p}", "function": f"{FUNCTION}u", "smooth": f"{SMOOTH_FUNCTION}u"},
        source=_SOURCE,
    )
    claim = statement_of(limit, data)
    try:
        outputs = computed(network, data, form)
    except Inexact as reason:
        claim = replace(claim, witness={"reason": f"{reason}"})
    else:
        error, claim = judged_in_balls(claim, data, lambda: outputs, limit)
        claim = measured(error, claim, spread(data))
    claim = replace(
        claim,
        id=ids.claimed(name),
        statement=claim.statement.replace("the output", f"the output computed in {name}", 1),
        arithmetic="balls of float64, widened by each rounding",
        rests_on=(model.id,),
        source=_SOURCE,
    )
    return [model, claim]
