"""Small true certificates of ranks of deep networks, and changes that make them false."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from functools import cache
from typing import Any

from support.small_certificates import Certificate, put, sealed

from attncert.constructions.data.generators import random
from attncert.verify.depth.capacity import AT_ZERO, FEATURES, JACOBIAN
from attncert.verify.depth.certificate import rank_certificate
from attncert.verify.depth.draw import SMALL, draw_network, draw_zero
from attncert.verify.depth.law import Architecture
from attncert.verify.depth.ranks import deep_rank
from attncert.verify.newton.certify import certify, near_certificate
from attncert.verify.newton.descent import descend_deep

ALL = (JACOBIAN, AT_ZERO, FEATURES)


@cache
def case(of: str = JACOBIAN, layers: int = 2, units: int = 0) -> Certificate:
    """Six examples, three tokens of width 3."""
    data = random(T=6, n=3, d=3, seed=7)
    shape = Architecture(layers, 2, 1, 1, units)
    network = draw_zero(data, shape, (2,)) if of == AT_ZERO else draw_network(data, shape)
    rank = deep_rank(data, network, features=of == FEATURES)
    assert rank.full
    made: dict[str, Any] = {"version": "0", "command": "tests", "seed": 0}
    return dict(rank_certificate(data, network, rank, of, construction="t", produced_by=made))


def several(kinds: tuple[str, ...] = (JACOBIAN, FEATURES)) -> list[Certificate]:
    """One to three layers, also with a causal first layer and an affine block before it."""
    plain = [case(of, layers) for of in kinds for layers in (1, 2, 3)]
    identity = [[str(int(i == j)) for j in range(3)] for i in range(3)]
    block = {
        "kind": "feed-forward", "of": "all", "activation": "identity",
        "weights": identity, "bias": ["1", "0", "-1/2"], "residual": True,
    }  # fmt: skip
    behind = deepcopy(plain)
    for cert in behind:
        cert["network"] = [block, *cert["network"]]
        cert["network"][1]["mask"] = "causal"
    return plain + [sealed(cert) for cert in behind]


def _one_more_example(cert: Certificate) -> None:
    """The last example equals the first, so their rows are equal too."""
    data = cert["data"]
    for key in ("contexts", "queries", "labels"):
        data[key].append(data[key][0])
    cert["dims"]["examples"] += 1
    cert["rank"]["value"] += 1


def _no_readout(cert: Certificate) -> None:
    """All derivatives are 0."""
    last = cert["network"][-1]
    last["output"] = [["0"], ["0"]]
    for head in last["heads"]:
        head["value"] = [["0"]] * 3


@cache
def near_case() -> Certificate:
    """The claim that real weights near float64 weights of two layers output six labels exactly."""
    data, shape = random(T=6, n=3, d=3, seed=7), Architecture(2, 2, 1, 1)
    near = certify(data, descend_deep(data, shape, 0).weights, shape)
    assert near.holds, near.why
    return dict(near_certificate(near, construction="fit", produced_by={"version": "0"}))


NEAR_FALSE: dict[str, tuple[str, Callable[[Certificate], None]]] = {
    "another label": ("wrong", put("data", "labels", 0, to=["1000"])),
    "too small a radius": ("wrong", put("near", "radius", to="1/10000000000000000000000")),
    "a box in which derivatives vary": ("wrong", put("near", "radius", to="10")),
    "no inverse": ("wrong", put("near", "inverse", to=[["0"] * 6] * 6)),
    "an unknown twice": ("wrong", put("near", "unknowns", 0, to=lambda k: k + 1)),
    "no such weight": ("wrong", put("near", "unknowns", 5, to=10**6)),
    "logits in units of ln 2": ("unusable", put("network", 0, "logit_unit", to="ln 2")),
    "another weight": ("wrong", put("network", 0, "heads", 0, "key", 0, to=["3"])),
}


# The changes that make files false, and their verdicts.
FALSE: dict[str, tuple[str, Callable[[Certificate], None]]] = {
    "an example twice": ("wrong", _one_more_example),
    "another number of rows": ("wrong", put("rank", "value", to=5)),
    "a prime that is none": ("wrong", put("rank", "primes", 0, to="11861329")),
    "primes out of order": ("wrong", put("rank", "primes", to=["23", "47", "11"])),
    "a last prime 1 modulo 4": ("wrong", put("rank", "primes", to=["23", "11", "5"])),
    "too few primes": ("unusable", put("rank", "primes", to=["23", "11"])),
    "a slope of 1/2": ("unusable", put("rank", "slope", to="1/2")),
    "another word": ("unusable", put("rank", "of", to="outputs")),
    "a readout of 0": ("wrong", _no_readout),
    "natural logits": ("unusable", put("network", 0, "logit_unit", to="1")),
    "a maximum": ("unusable", put("network", 0, "rule", to="hardmax")),
    "a last block of all": ("unusable", put("network", 1, "of", to="all")),
}


def _huge_values(cert: Certificate) -> None:
    """The values are beyond the range of float64."""
    block = cert["network"][0]
    block["output"] = [[str(Fraction(x) * 10**400) for x in row] for row in block["output"]]


def _large_values(cert: Certificate) -> None:
    """With large values, softmax weights determine the signs before the ReLU."""
    block = cert["network"][0]
    block["output"] = [[str(Fraction(x) * SMALL) for x in row] for row in block["output"]]


def _on_a_threshold(cert: Certificate) -> None:
    """The last number before the ReLU is 0 for all tokens and queries."""
    block = cert["network"][1]["blocks"][0]
    for row in (*block["weights"], block["bias"]):
        row[-1] = "0"


def _no_active_unit(cert: Certificate) -> None:
    """No unit is active; without the skip connection, no input reaches the last block."""
    cert["network"][1]["residual"] = False
    cert["network"][1]["blocks"][0]["bias"] = ["-1000000"] * 2


RELU_FALSE: dict[str, tuple[str, Callable[[Certificate], None]]] = {
    "signs that softmax weights change": ("over limit", _large_values),
    "values beyond float64": ("over limit", _huge_values),
    "a number before the ReLU is 0": ("over limit", _on_a_threshold),
    "all units inactive": ("wrong", _no_active_unit),
    "a threshold": ("unusable", put("network", 1, "blocks", 0, "activation", to="threshold")),
    "a group of the query alone": ("unusable", put("network", 1, "of", to="query")),
    "two skip connections": ("unusable", put("network", 1, "blocks", 1, "residual", to=True)),
    "an example twice": ("wrong", _one_more_example),
}


def false(change: Callable[[Certificate], None], certificate: Certificate) -> Certificate:
    """The certificate with this change and new digests."""
    certificate = deepcopy(certificate)
    change(certificate)
    return sealed(certificate)
