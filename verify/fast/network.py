"""The fast check of "network" and "outputs-within" certificates: FLINT.

The file is read by verify/checker; its blocks are then evaluated by constructions/network, in
rationals or in balls (Arb). That is the code that builds networks and writes such files: trust it
with FLINT, or leave out --fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from flint import arb_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import Inexact, TooLong
from attncert.constructions.network.file import of_json
from attncert.constructions.network.network import Network
from attncert.verify.checker import Limits, Rejected, need
from attncert.verify.checker.network import Parts
from attncert.verify.fast.reading import dataset
from attncert.verify.interpolation.enclosure import enclosed_error
from attncert.verify.network.within import balls, require_width

MOST_BITS = 4096  # of balls: a claim that needs more is refused, as not shown to hold


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    with refusals():
        network, data = network_and_data(cert, parts, limits)
        if parts.within is None:
            exactly(network, data, limits)
            return f"the outputs equal the labels of all {data.T} examples, exactly"
        nearly(network, data, limits, Fraction(*parts.within))
    return f"the outputs are within {cert['within']:.40} of the labels of all {data.T} examples"


def network_and_data(cert: dict[str, Any], parts: Parts, limits: Limits) -> tuple[Network, Dataset]:
    data = dataset(cert, limits, parts.contexts, parts.queries, parts.labels)
    limits.hold(200.0 * (len(data.contexts) * data.longest + data.T) * (data.d + data.m))
    return of_json(cert["network"]), data


@contextmanager
def refusals() -> Iterator[None]:
    """What the library raises, as Rejected."""
    try:
        yield
    except InputError as error:
        raise Rejected("unusable", str(error)) from None
    except TooLong as error:
        raise Rejected("over limit", str(error)) from None
    except Inexact as error:
        raise Rejected("wrong", str(error)) from None


def exactly(network: Network, data: Dataset, limits: Limits) -> None:
    for after in network.states(data):
        limits.on_time()
        outputs = after.queries
    require_width(outputs, data)
    pairs = zip(outputs.tolist(), data.label_matrix.tolist(), strict=True)
    for t, (output, label) in enumerate(pairs):
        need(output == label, f"the output of example {t} is not its label", "wrong")


def nearly(network: Network, data: Dataset, limits: Limits, within: Fraction) -> None:
    def outputs() -> arb_mat:
        limits.on_time()
        return balls(network, data)

    error = enclosed_error(data, outputs, tolerance=within, max_bits=MOST_BITS)
    far = [*error.numbers["beyond"], *error.numbers["open"], 0][0]
    message = f"the output of example {far} may be further from its label"
    need(error.level.holds, message, "wrong")
