"""Train a small attention layer on 12 digits, and store it before and after.

python examples/train_layer.py [FOLDER] writes data.npz, before.npz and after.npz, with names
as in Hugging Face's models (q_proj.weight, ...), in float32 with biases. Adam runs in NumPy for a
few seconds. Then run, for example:

    attncert layer examples/trained/after.npz examples/trained/data.npz --heads 3 --tolerance 0.1
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from attncert import load
from attncert.constructions.given.attention import Shape, jacobian

T, HEADS, WIDTH, STEPS = 12, 3, 4, 200


def main(folder: Path) -> None:
    digits = load("digits").take(T)
    contexts, queries = digits.contexts.floats() / 16, digits.queries.floats() / 16
    labels = digits.labels.floats()
    np.savez(folder / "data.npz", contexts=contexts, queries=queries, labels=labels)
    # A bias is a weight on a coordinate that is always 1.
    x, e = (np.concatenate([y, np.ones((*y.shape[:-1], 1))], axis=-1) for y in (contexts, queries))
    shape = Shape(x.shape[2], 1, HEADS, WIDTH, WIDTH)
    weights = np.random.default_rng(0).normal(0, 0.3, shape.parameters)
    np.savez(folder / "before.npz", **state(weights, shape))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):  # Adam with a learning rate that falls to 0
        found, J = jacobian(x, e, weights, shape)
        slope = np.tensordot(found - labels, J, 2) / T
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        rate = 0.03 * (1 + np.cos(np.pi * step / STEPS)) / 2
        weights = weights - rate * (mean / (1 - 0.9**step)) / (
            np.sqrt(square / (1 - 0.999**step)) + 1e-9
        )
        if step in (1, 10, 100, STEPS):
            print(f"step {step}: largest error {np.abs(found - labels).max():.2g}")
    np.savez(folder / "after.npz", **state(weights, shape))


def state(weights: np.ndarray, shape: Shape) -> dict[str, np.ndarray]:
    """The weights by name: rows of q, k and v head by head, (out, in), for logits divided by
    √d_h."""
    key, query, value, output = shape.split(weights)
    made = {}
    for name, part in (("q", query * np.sqrt(WIDTH)), ("k", key), ("v", value)):
        rows = part.transpose(0, 2, 1).reshape(-1, shape.d)
        made |= {f"{name}_proj.weight": rows[:, :-1], f"{name}_proj.bias": rows[:, -1]}
    made["out_proj.weight"] = output.reshape(-1, shape.m).T
    return {name: array.astype(np.float32) for name, array in made.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "trained")
