"""Claims that a layer was read correctly: what is known about its computation, and what is assumed.

Names of arrays do not determine the scale, rotary positions or a bias of logits. The type of the
model does (`constructions/weights/model_types.py`), and so do recorded outputs, which the layer as
read must reproduce up to rounding. Rounding is measured on the same layer: as the difference
between NumPy in float64 and in float32 with every step rounded like the recorded numbers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.network import Network
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.features.attention import Attention
from attncert.verify.outputs.enclosure import decimal
from attncert.verify.outputs.rounded import computed
from attncert.verify.outputs.rounding import FORMATS
from attncert.verify.third_party.layer.mask import Recorded

_TIMES = 8  # a factor that allows for other orders of summation
_PART = 0.05  # the largest error that counts as rounding, relative to the largest output
_BITS = 128
_SCALED = {
    "none": "logits that are not divided",
    "sqrt-d": r"logits divided by $\sqrt{d_h}$",
    "sqrt-model": r"logits divided by $\sqrt d$",
}
_NOTHING = "no rotary or relative positions, no cap or clip, no added row"
_SOURCE = "ours; docs/models-and-layers.md"


def read_claim(
    stored: StoredLayer, attention: Attention, recorded: Recorded | None, masked: bool = False
) -> Claim | None:
    """The claim that the layer audited is the layer stored: shown by the layer's outputs or its
    type, or assumed. None for this project's format, which states what is computed. Refuted if the
    layer as read does not reproduce the recorded outputs.
    """
    if recorded is not None:
        return _reproduced(stored, attention, recorded)
    if stored.format == "attncert":
        return None
    mask = "no other mask" if masked else "no mask"
    plain = f"softmax attention with {_SCALED[attention.scale]}; {_NOTHING}, {mask}"
    if stored.type and attention.scale == stored.scale:
        return Claim(
            ids.LAYER_READ,
            f"The configuration says: type {stored.type}, {plain}.",
            Level.NUMERICAL,
            arithmetic="float64; the tests compare layers of this type with their library's",
            source=_SOURCE,
        )
    statement = f"Assumed, since names of arrays do not say it: {plain}."
    return Claim(ids.LAYER_READ, statement, Level.ASSUMED, source=_SOURCE)


def read_network(network: Network, data: Dataset, recorded: Recorded | None) -> Claim | None:
    """The same claim about a network from another library; None if its blocks were given, not read
    from a model. Rounding is bounded by the model of `verify/outputs/rounding.py`, and by a
    fraction of the largest output, since the model's bounds are wide at low precision."""
    if recorded is not None:
        machine = replace(FORMATS["float32"], p=round(-math.log2(recorded.unit)))
        try:
            lost = max(float(x.rad()) for x in computed(network, data, machine).entries())
            with ctx.workprec(_BITS):
                gaps = network.enclosures(data, _BITS) - arb_mat(_exact(recorded.outputs))
        except Inexact as reason:
            statement = f"Whether the network gives the recorded outputs is not decided: {reason}."
            reasons = {"reason": f"{reason}"}
            return Claim(
                ids.LAYER_READ, statement, Level.UNDECIDED, witness=reasons, source=_SOURCE
            )
        return _held(gaps, min(lost, _PART * float(np.abs(recorded.outputs).max())), recorded)
    if not network.type:
        return None
    return Claim(
        ids.LAYER_READ,
        f"The configuration says: type {network.type}.",
        Level.NUMERICAL,
        arithmetic="floats; the tests compare models of this type with their library's",
        source=_SOURCE,
    )


def _reproduced(stored: StoredLayer, attention: Attention, recorded: Recorded) -> Claim:
    with ctx.workprec(_BITS):
        gaps = attention.outputs() - arb_mat(_offset_taken(stored, recorded.outputs))
    return _held(gaps, _TIMES * _lost(attention, recorded.unit), recorded)


def _held(gaps: arb_mat, lost: float, recorded: Recorded) -> Claim:
    """The claim about recorded outputs. gaps: outputs as read minus recorded outputs. lost: the
    rounding error of all steps before the outputs."""
    with ctx.workprec(_BITS):
        largest = max((abs(x) for x in gaps.entries()), key=lambda x: x.mid())
        difference = decimal(largest.upper(), up=True)
        rounding = lost + _TIMES * recorded.unit * float(np.abs(recorded.outputs).max())
        same = bool(largest <= arb(rounding))
    numbers = {"largest difference": difference, "rounding": f"{rounding:.3g}"}
    outputs = f"the recorded outputs of {counted(len(recorded.outputs), 'example', 'all')}"
    if same:
        statement = f"The layer as read gives {outputs} up to rounding: within {difference}."
        level, witness = Level.NUMERICAL, None
    else:
        statement = (
            f"The layer as read does not give {outputs}: the largest difference is {difference}, "
            f"of which rounding explains {rounding:.3g}. A part of the layer was not read."
        )
        level, witness = Level.REFUTED, numbers
    return Claim(
        ids.LAYER_READ, statement, level, numbers=numbers, witness=witness,
        arithmetic=f"ball arithmetic (Arb), {_BITS} bits, against floats", source=_SOURCE,
    )  # fmt: skip


def _offset_taken(stored: StoredLayer, outputs: FloatArray) -> fmpq_mat:
    """The outputs minus b_O, which are the outputs of the layer without its output bias."""
    exact = _exact(outputs)
    if stored.offset is None:
        return exact
    return exact - fmpq_mat(len(outputs), 1, [1] * len(outputs)) * stored.offset


def _exact(outputs: FloatArray) -> fmpq_mat:
    return fmpq_mat([[fmpq(*x.as_integer_ratio()) for x in row] for row in outputs.tolist()])


def _lost(attention: Attention, unit: float) -> float:
    """The largest difference between the outputs with this roundoff and those in float64."""
    with np.errstate(all="ignore"):
        wide = _by_numpy(attention, np.float64, 0)
        sums = (np.float32, np.float64)  # the second type is used if the first overflows
        lost = (float(np.abs(wide - _by_numpy(attention, kind, unit)).max()) for kind in sums)
        return next(filter(math.isfinite, lost), 0.0)


def _by_numpy(attention: Attention, kind: type[np.floating[Any]], unit: float) -> FloatArray:
    """The outputs (T, m) in this arithmetic, with each step rounded to the unit roundoff."""

    def step(x: FloatArray) -> FloatArray:
        if not unit:
            return x
        fraction, exponent = np.frexp(x)
        return np.ldexp(np.round(fraction / kind(unit)) * kind(unit), exponent)

    data = attention.data
    factor = kind(float(attention.factor.mid()) / math.log(2))  # W_Q already contains ln 2
    w = {name: x.astype(kind) for name, x in attention.layer.to_numpy().items()}
    contexts, queries = (x.floats().astype(kind) for x in (data.contexts, data.queries))
    tokens = contexts[:, None]  # (T or 1, 1, n, d)
    q = step(queries[:, None, None] @ w["W_Q"] * factor).swapaxes(2, 3)  # (T, H, d_h, 1)
    logits = step((step(tokens @ w["W_K"]) @ q)[..., 0])
    if data.times is not None:
        logits = np.where(data.times[:, None], logits, -np.inf)
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    weights = step(weights / weights.sum(axis=2, keepdims=True))
    mixed = step(weights[:, :, None] @ step(tokens @ w["W_V"]))  # (T, H, 1, d_v)
    return step(mixed.reshape(data.T, -1) @ w["W_O"])
