"""How far the outputs of a network are from labels: balls that enclose them."""

from __future__ import annotations

from flint import arb, arb_mat, ctx

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.network import Network


def balls(network: Network, data: Dataset) -> arb_mat:
    """The outputs, T×m, at the working precision of FLINT's context. Where that leaves a tie or a
    sign open nothing is known of them, and they are no numbers. Raises InputError for shapes."""
    try:
        return network.enclosures(data, ctx.prec)
    except Inexact:
        return arb_mat(data.T, data.m, [arb("nan")] * (data.T * data.m))
