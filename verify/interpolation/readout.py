"""Step 9 checked: the value and output matrices of the layer solve Z V = Y, over ℚ."""

from __future__ import annotations

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.verify import features
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import RATIONAL, Claim


def readout_solves(data: Dataset, layer: Layer) -> Claim:
    """Z V = Y with V the H stacked products value·output; exact.

    Only feature columns that V uses are formed (those where a block of V has a nonzero row).
    """
    columns: list[list[list[object]]] = []
    used_rows: list[list[object]] = []
    m = data.m
    output = [] if layer.output is None else layer.output.tolist()
    for h, head in enumerate(layer.heads):
        assert head.value is not None
        width = head.value.ncols()
        block = output[h * width : (h + 1) * width]
        values = (head.value * fmpq_mat(width, m, [x for row in block for x in row])).tolist()
        used = [j for j, row in enumerate(values) if any(row)]
        if used:
            columns.append(features.exact_columns(features.logits(head, data), data, used))
            used_rows += [values[j] for j in used]
    count = len(used_rows)
    flat = [x for t in range(data.T) for block in columns for x in block[t]]
    z = fmpq_mat(data.T, count, flat)
    v = fmpq_mat(count, m, [x for row in used_rows for x in row])
    difference = (z * v - data.label_matrix).tolist()
    wrong = [t for t, row in enumerate(difference) if any(row)]
    bits = max((int(x.height_bits()) for x in v.entries()), default=0)
    return Claim.checked(
        ids.READOUT,
        "The readout solves $ZV=Y$ exactly.",
        not wrong,
        {"examples": wrong},
        numbers={"columns used": count, "bits": bits},
        arithmetic=RATIONAL,
        source="docs/mathematics.md, section 1",
    )
