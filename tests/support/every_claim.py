"""One small true certificate for every claim."""

from __future__ import annotations

from fractions import Fraction

from support import deep_cases, labelling_cases, near_cases, networks
from support.small_certificates import CASES, Certificate

from attncert import additions
from attncert.verify.outputs.situations import Cases
from attncert.verify.outputs.within import certificate
from examples.adder import build, pairs

_LAYERS = [make() for make in CASES.values()]
_LAYERS += [near_cases.case("shared"), labelling_cases.case("pair")]
_NETWORK = next(  # its labels differ, and balls have no tie or sign to decide
    x
    for x in networks.rational(40)
    if x["data"]["labels"][0] not in x["data"]["labels"][1:]
    and x["dims"]["examples"] > 1
    and all(y.get("activation") != "threshold" and y.get("rule") != "hardmax" for y in x["network"])
)

_SUMS, _ADDER = pairs([(2, 3), (1, 1)], 1, 4), build(None, None, 1, 4)
_GENERATES = certificate(
    _SUMS,
    _ADDER,
    construction="adder",
    produced_by={},
    margin=Fraction(99, 100),
    domain=Cases.of(additions(1, 4), 2, _ADDER, _SUMS).keys(halved=False),
)

TRUE: dict[str, Certificate] = {x["claim"]: x for x in reversed(_LAYERS)} | {
    "network": _NETWORK,
    "outputs-within": networks.nearly(_NETWORK),
    "network-rank": deep_cases.case(),
    "network-near": deep_cases.near_case(),
    "nearest": networks.nearest(_NETWORK, "1/1000000"),
    "generates": dict(_GENERATES),
}
