"""Measures the audit of a layer with a real model's shape: BERT-base and GPT-2 with random weights.

python benchmarks/layer_shapes.py [MODEL T N]: float32 weights with biases, 12 heads of width 64, on
T random examples of N tokens; labels are the layer's own outputs in float32, so all must be within
1e-3. GPT-2 is causal: only the last example sees all rows. Prints CPU seconds and the peak memory
of the process; each row runs in a new process.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
from machine import peak_mebibytes

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.weights.load import Selection, of_state
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.third_party.layer.layer import layer as layer_on

SIZES = (("bert-base", 16, 32), ("bert-base", 16, 128), ("gpt2", 16, 32), ("gpt2", 16, 128))
D, HEADS = 768, 12
NAMES = {
    "bert-base": ("self.query", "self.key", "self.value", "output.dense"),
    "gpt2": ("c_attn", "c_proj"),
}


def state(model: str) -> dict[str, AnyArray]:
    """Random weights and biases by name, float32, as small as at the beginning of training."""
    rng, found = np.random.default_rng(0), {}
    for module in NAMES[model]:
        wide = 3 * D if module == "c_attn" else D
        found[f"{module}.weight"] = rng.normal(0, 0.02, (D, wide)).astype(np.float32)
        found[f"{module}.bias"] = rng.normal(0, 0.02, wide).astype(np.float32)
    return found


def weights(model: str) -> StoredLayer:
    arrays = state(model)

    def read(choose: object) -> dict[str, AnyArray]:
        names = choose(list(arrays))  # type: ignore[operator]
        return {name: arrays[name] for name in names}

    return of_state(read, model, model, Selection(heads=HEADS))


def outputs(layer: StoredLayer, contexts: AnyArray, queries: AnyArray, mask: AnyArray) -> AnyArray:
    """The outputs in float64, computed from the same matrices that are audited."""
    x, e = (np.concatenate([y, np.ones((*y.shape[:-1], 1))], axis=-1) for y in (contexts, queries))
    total = np.zeros((len(e), D)) + _floats(layer.offset)
    values = _floats(layer.layer.output)
    for h, head in enumerate(layer.layer.heads):
        key, query, value = map(_floats, (head.key, head.query, head.value))
        logits = np.einsum("tnc,tc->tn", x @ key, e @ query) / 8
        logits[~mask] = -np.inf
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        mixed = np.einsum("tn,tnd->td", p / p.sum(axis=1, keepdims=True), x)
        total += mixed @ value @ values[64 * h : 64 * (h + 1)]
    return total.astype(np.float32)


def _floats(matrix: object) -> AnyArray:
    return np.array([[int(x.p) / int(x.q) for x in row] for row in matrix.tolist()])  # type: ignore[attr-defined]


def row(model: str, T: int, n: int) -> str:
    rng = np.random.default_rng(1)
    contexts, queries = (rng.normal(size=s).astype(np.float32) for s in ((T, n, D), (T, D)))
    mask = np.ones((T, n), dtype=bool)
    if model == "gpt2":
        mask = np.tril(mask, n - T)
    start = time.process_time()
    layer = weights(model)
    loaded = time.process_time() - start
    labels = outputs(layer, contexts, queries, mask)
    start = time.process_time()
    data = Dataset.of(contexts, queries, labels)
    question = LayerQuestion(tolerance="1/1000")
    found = layer_on(replace(layer), data, question, mask=mask)
    seconds = time.process_time() - start
    memory = peak_mebibytes()
    said = ("within" if found.holds else "beyond") + " 1/1000"
    return f"| {model} | {T} | {n} | {loaded:.1f} s | {seconds:.0f} s | {memory} MiB | {said} |"


def main(arguments: list[str]) -> None:
    if arguments:
        print(row(arguments[0], int(arguments[1]), int(arguments[2])))
        return
    print("| model | T | n | reading (CPU) | audit (CPU) | memory | verdict |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
    for size in SIZES:
        subprocess.run([sys.executable, __file__, *map(str, size)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
