"""Training by Adam: it needs torch, which most machines of the tests have not."""

from __future__ import annotations

import numpy as np
import pytest

from attncert.constructions.given import adam
from attncert.constructions.given.adam import train
from attncert.constructions.given.attention import Shape, outputs

pytest.importorskip("torch")
SHAPE = Shape(4, 1, 3, 1, 1)


def arrays(T: int, shared: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    contexts = draw.standard_normal((1 if shared else T, 3, 4))
    return contexts, draw.standard_normal((T, 4)), draw.standard_normal((T, 1))


@pytest.mark.parametrize("scale", [1.0, 1024.0])
@pytest.mark.parametrize("shared", [False, True])
def test_errors_fall_and_are_those_of_the_weights(scale: float, shared: bool) -> None:
    contexts, queries, labels = arrays(8, shared)
    contexts, labels = contexts * scale, labels * scale
    found = train(contexts, queries, labels, SHAPE, 1, steps=300)
    error = np.abs(outputs(contexts, queries, found.weights, SHAPE) - labels).max()
    assert found.error == pytest.approx(error) and found.steps == 300
    assert [step for step, _ in found.errors][:2] == [0, 3]
    assert found.errors[-1][1] < 0.9 * found.errors[0][1]
    assert found.errors == train(contexts, queries, labels, SHAPE, 1, steps=300).errors


def test_batches_hold_every_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """One example more than a batch, and the others alike: all are learned."""
    monkeypatch.setattr(adam, "BATCH", 4)
    contexts, queries, labels = arrays(5)
    contexts[:-1], queries[:-1], labels[:-1] = contexts[0], queries[0], labels[0]
    found = train(contexts, queries, labels, SHAPE, 0, steps=1000)
    assert found.error < 0.1


def test_numbers_beyond_the_floats_end_the_training() -> None:
    contexts, queries, labels = arrays(4)
    found = train(contexts, queries, labels * np.inf, SHAPE, 0, steps=50)
    assert found.steps == 0 and not np.isfinite(found.error)
