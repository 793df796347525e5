"""Whether the layer was read correctly: what is known about its computation, and what is assumed.

Names of arrays do not determine the scale, rotary positions or a bias of logits. The type of the
model does (`constructions/weights/model_types.py`), and so do recorded outputs: the layer as read
must reproduce these up to rounding.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from flint import arb, arb_mat, ctx

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
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

_TIMES = 8  # a factor to allow for libraries that add in another order
_PART = 0.05  # the largest error taken for rounding, as a fraction of the largest output
_BITS = 128
_SCALED = {
    "none": "logits that are not divided",
    "sqrt-d": r"logits divided by $\sqrt{d_h}$",
    "sqrt-model": r"logits divided by $\sqrt d$",
}
_NOTHING = "no rotary or relative positions, no cap or clip, no added row"
_SOURCE = "ours; docs/models-and-layers.md"


def read_layer(
    stored: StoredLayer,
    attention: Attention,
    data: Dataset,
    recorded: Recorded | None,
    masked: bool = False,
) -> Claim | None:
    """The claim that the audited layer is the stored one: shown by its outputs on the data, by its
    type, or assumed. None for this project's format, which states it. Refuted if the layer as read
    does not reproduce the recorded outputs.
    """
    if recorded is not None:
        return _reproduced(Network(tuple(stored.with_biases(attention.block))), data, recorded)
    if stored.format == "attncert":
        return None
    mask = "no other mask" if masked else "no mask"
    plain = f"softmax attention with {_SCALED[attention.scale]}; {_NOTHING}, {mask}"
    if stored.type and attention.scale == stored.scale:
        return Claim(
            ids.LAYER_READ,
            f"The configuration says: type {stored.type}, {plain}.",
            Level.NUMERICAL,
            arithmetic="float64, layers of this type against their library's, by the tests",
            source=_SOURCE,
        )
    statement = f"Assumed, since names of arrays do not say it: {plain}."
    return Claim(ids.LAYER_READ, statement, Level.ASSUMED, source=_SOURCE)


def read_network(network: Network, data: Dataset, recorded: Recorded | None) -> Claim | None:
    """The same claim about a network of another library; None if its blocks were stated, not read
    from a model."""
    if recorded is not None:
        return _reproduced(network, data, recorded)
    if not network.type:
        return None
    return Claim(
        ids.LAYER_READ,
        f"The configuration says: type {network.type}.",
        Level.NUMERICAL,
        arithmetic="floats, models of this type against their library's, by the tests",
        source=_SOURCE,
    )


def _reproduced(network: Network, data: Dataset, recorded: Recorded) -> Claim:
    """Rounding is what the model of `verify/outputs/rounding.py` allows, but at most a fraction of
    the largest output: its bounds are wide for short formats."""
    machine = replace(FORMATS["float32"], p=round(-math.log2(recorded.unit)))
    theirs = arb_mat(ExactArray.of(recorded.outputs).matrix())
    try:
        lost = max(float(x.rad()) for x in computed(network, data, machine).entries())
        with ctx.workprec(_BITS):
            gaps = (network.enclosures(data, _BITS) - theirs).entries()
    except Inexact as reason:
        statement = f"Whether the layer gives the recorded outputs is not decided: {reason}."
        witness = {"reason": f"{reason}"}
        return Claim(ids.LAYER_READ, statement, Level.UNDECIDED, witness=witness, source=_SOURCE)
    most = float(np.abs(recorded.outputs).max())
    rounding = min(lost, _PART * most) + _TIMES * recorded.unit * most
    largest = max((abs(x) for x in gaps), key=lambda x: x.mid())
    difference = decimal(largest.upper(), up=True)
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
