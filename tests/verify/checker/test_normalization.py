"""Normalization: both evaluators against mpmath, exact cases, and planted defects refused."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import mpmath
import pytest
from support import networks
from support.requires import EXECUTABLE, verified_status
from support.small_certificates import NOTHING, changed, sealed, written

from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.file import as_json, of_json
from attncert.reports.certificate.explain import explain
from attncert.verify.checker import Limits, Rejected, check_file
from attncert.verify.checker.functions import centred, normalized
from attncert.verify.checker.network_near import parts as near
from attncert.verify.checker.network_rank import parts as rank
from attncert.verify.derivatives.networks import NotDifferentiable, blocks_of

LIMITS = Limits(math.inf, math.inf)
SIZES = Fraction(0), Fraction(1), Fraction(1, 2**70), Fraction(2**70), Fraction(1, 7)
BLOCK = {"kind": "normalization", "of": "all", "centred": False, "epsilon": "0",
         "gain": ["2", "-1/3", "5"], "bias": ["1/7", "0", "-2"], "residual": False}  # fmt: skip


def real(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


def definition(vector: Any, epsilon: Any, is_centred: bool) -> list[Any]:
    less = sum(vector) / len(vector) if is_centred else 0
    rows = [x - less for x in vector]
    return [x / mpmath.sqrt(sum(y * y for y in rows) / len(rows) + epsilon) for x in rows]


@pytest.mark.parametrize("is_centred", [False, True])
@pytest.mark.parametrize("unit", [1, 3 * 10**40, 1 << 128])
def test_balls_hold_the_values_of_points_in_them(unit: int, is_centred: bool) -> None:
    """Zero, tiny and huge entries of both signs; wide balls, and points."""
    draw, P, undecided = random.Random(unit), 128, 0
    for _ in range(80):
        size = draw.choice([1, 10**6, 10**60])
        centres = [draw.choice([0, draw.randint(-size, size)]) for _ in range(draw.randint(1, 5))]
        radii = [draw.choice([0, 0, 1, size // 5]) for _ in centres]
        p, q = draw.choice([(0, 1), (1, 10**5), (7, 2)])
        balls = centres, radii, unit
        try:
            found = normalized(centred(*balls) if is_centred else balls, (p, q), P, LIMITS)
        except Rejected as refusal:
            assert p == 0 and refusal.args[0] == "over limit"
            undecided += 1
            continue
        with mpmath.workprec(2000):
            for part in (-1, 0, Fraction(1, 3), 1):
                pairs = zip(centres, radii, strict=True)
                point = [real((c + part * r) / Fraction(unit)) for c, r in pairs]
                values = definition(point, mpmath.mpf(p) / q, is_centred)
                for value, (c, r) in zip(values, found, strict=True):
                    assert abs(value * 2**P - c) <= r + mpmath.mpf(2) ** -900
        assert any(radii) or max(r for _, r in found) <= 1
    assert 0 < undecided < 40


def certificate(blocks: Any, queries: Any, labels: Any) -> Any:
    data = {"contexts": [[["1", "2", "4"]]], "queries": queries, "labels": labels}
    sizes = {"width": len(queries[0]), "labels": len(labels[0])}
    dims = {"examples": len(queries), "context": 1} | sizes
    body = {"claim": "network", "construction": "", "dims": dims, "data": data}
    return sealed(NOTHING | body | {"network": blocks, "tokens": None, "produced_by": {}})


def close(epsilon: str, is_centred: bool) -> Any:
    """Vectors of all sizes; labels to 150 bits."""
    block, draw = BLOCK | {"epsilon": epsilon, "centred": is_centred}, random.Random(1)
    sizes = [size for size in SIZES if size or Fraction(epsilon)]
    rows = [[draw.choice([-3, 1, 2, 5]) + Fraction(k, 3) for k in range(3)] for _ in sizes]
    vectors = [[size * x for x in row] for size, row in zip(sizes, rows, strict=True)]
    labels = []
    with mpmath.workprec(600):
        gain, bias = ([real(Fraction(x)) for x in BLOCK[key]] for key in ("gain", "bias"))
        for vector in vectors:
            scaled = definition([real(x) for x in vector], real(Fraction(epsilon)), is_centred)
            outputs = [x * g + b for x, g, b in zip(scaled, gain, bias, strict=True)]
            rounded = [int(mpmath.floor(y * 2**150)) for y in outputs]
            labels.append([Fraction(y, 2**150) for y in rounded])
    files = networks.as_text(vectors), networks.as_text(labels)
    return networks.nearly(certificate([block], *files), f"1/{2**80}")


@pytest.mark.parametrize("is_centred", [False, True])
@pytest.mark.parametrize("epsilon", ["0", "1/100000", "3"])
def test_both_evaluators_agree_with_the_definition(
    epsilon: str, is_centred: bool, tmp_path: Path
) -> None:
    true = close(epsilon, is_centred)
    path = written(true, tmp_path)
    assert check_file(path).status == explain(path).status == "holds"
    if EXECUTABLE.exists():
        assert verified_status(path) == "unusable"
    network, labels = of_json(true["network"]), list(chain(*true["data"]["labels"]))
    assert as_json(network) == true["network"] and network.parameters == 5
    balls = network.enclosures(networks.dataset(true["data"]), 300).entries()
    for ball, label in zip(balls, labels, strict=True):
        assert abs(float(ball.mid()) - float(Fraction(label))) < 1e-12 and ball.rad() < 2**-90
    for off in (Fraction(1, 2**79), Fraction(-1, 2**79)):
        planted = changed(true, "data.labels.0.0", str(Fraction(labels[0]) + off))
        assert check_file(written(planted, tmp_path)).status == "wrong"


@pytest.mark.parametrize(
    ("key", "value", "status"),
    [("epsilon", "1/100001", "wrong"), ("gain.0", "2000001/1000000", "wrong"),
     ("bias.2", "0", "wrong"), ("centred", False, "wrong"), ("residual", True, "wrong"),
     ("of", "query", "holds"), ("of", "row", "unusable"), ("epsilon", "-1", "unusable"),
     ("epsilon", 0, "unusable"), ("centred", 1, "unusable"), ("gain", [], "unusable"),
     ("gain", ["1"] * 4, "unusable"), ("bias", None, "unusable")],
)  # fmt: skip
def test_planted_defects(key: str, value: Any, status: str, tmp_path: Path) -> None:
    planted = changed(close("1/100000", True), f"network.0.{key}", value)
    assert check_file(written(planted, tmp_path)).status == status


@pytest.mark.parametrize(
    ("query", "changes", "label", "status"),
    [(["1", "1", "5"], {}, ["17/21", "-1/9", "19/3"], "holds"),
     (["1", "1", "4"], {}, ["17/21", "-1/9", "19/3"], "wrong"),
     (["1", "5", "7"], {}, ["19/35", "-1/3", "5"], "holds"),
     (["3", "3", "3"], {"centred": True, "epsilon": "2"}, ["1/7", "0", "-2"], "holds"),
     (["0", "0", "0"], {}, ["1/7", "0", "-2"], "over limit")],
)  # fmt: skip
def test_exact_if_the_root_is_rational(
    query: Any, changes: Any, label: Any, status: str, tmp_path: Path
) -> None:
    """(1, 1, 5) has mean square 9. The root of epsilon does not matter if a vector is 0."""
    one = certificate([BLOCK | {"of": "query"} | changes], [query], [label])
    assert check_file(written(one, tmp_path)).status == status
    network, data = of_json(one["network"]), networks.dataset(one["data"])
    if status == "holds":
        assert [str(x) for x in network.outputs(data).entries()] == label
        return
    with pytest.raises(Inexact, match="normalization divides by"):
        network.outputs(data)


def test_claims_about_derivatives_are_refused() -> None:
    true = close("3", False)
    of_near = {"near": {"radius": "1/9", "unknowns": [], "inverse": []}}
    of_rank = {"rank": {"of": "jacobian", "primes": [], "slope": "1", "value": 1}}
    for parts in (near, rank):
        with pytest.raises(Rejected, match=r"unusable.*no derivative of normalization"):
            parts(true | of_near | of_rank, LIMITS)
    with pytest.raises(NotDifferentiable, match="block 1 is a block of kind normalization"):
        blocks_of(of_json(true["network"]), lambda table, below: table)
