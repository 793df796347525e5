"""Derivatives of deep networks: Arb's balls lie inside those of float64, which grow with depth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from attncert.constructions.data.generators import random
from attncert.verify.depth.law import Architecture
from attncert.verify.fit.fitted import fit
from attncert.verify.newton import network_enclosure
from attncert.verify.newton.certify import certify
from attncert.verify.newton.models import Model
from attncert.verify.questions.fit import Fit

RADIUS = Fraction(1, 10**12)


@pytest.mark.parametrize("layers", [2, 3])
def test_both_arithmetics_enclose_the_derivatives(
    layers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The balls also contain the float64 derivatives at the corners of the box."""
    data, shape = random(T=5, n=3, d=3, seed=1), Architecture(layers, 2, 1, 1)
    model = Model(data, shape)
    rng = np.random.default_rng(layers)
    weights = rng.standard_normal(model.parameters) / 4
    unknowns = list(range(0, model.parameters, 3))
    found = {}
    for limit in (0, 9):
        monkeypatch.setattr(network_enclosure, "_IN_FLOATS", limit)
        found[limit] = network_enclosure.derivatives(data, model.exact(weights), unknowns, RADIUS)
    arbs, floats = found[0], found[9]
    assert (np.abs(arbs.mid - floats.mid) <= arbs.rad + floats.rad).all()
    assert (arbs.rad < floats.rad).all()
    for _ in range(5):
        corner = weights.copy()
        corner[unknowns] += rng.choice([-1, 1], len(unknowns)) * float(RADIUS)
        J = model.jacobian(corner)[:, unknowns]
        for balls in (arbs, floats):
            assert (np.abs(J - balls.mid) <= balls.rad + 1e-12 * np.abs(J).max()).all()
    assert (np.abs(J - arbs.mid) > 1e-14).any()  # the box is not a point


def test_four_layers_are_certified_only_in_arb(monkeypatch: pytest.MonkeyPatch) -> None:
    data = random(T=30, n=3, d=4, seed=1)
    answer = fit(data, Fit(layers=4, heads=1))
    assert answer.holds and answer.certificate is not None
    monkeypatch.setattr(network_enclosure, "_IN_FLOATS", 9)
    last = answer.attempts[-1].descent
    assert not certify(data, last.weights, last.shape).holds
