"""The question of `attncert layer`."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import SIZE, TEXT, exact, one_of, path

FORMATS = ("float32", "float64")
SCALES, UNITS = ("none", "sqrt-d", "sqrt-model"), ("e", "ln2")


@dataclass(frozen=True, repr=False)
class LayerQuestion(Question):
    """Say what third-party weights do on DATA: errors, rank, saturation, what each head is worth.

    Arithmetic and source: see `attncert.layer`. Raises InputError for options out of range.

    >>> LayerQuestion(heads=3, tolerance=0.5, mask="seen.npz").line()
    'attncert layer WEIGHTS DATA --heads 3 --mask MASK --tolerance 0.5'
    """

    command = "layer"
    example = "attncert layer examples/trained/after.npz examples/trained/data.npz --heads 3"
    weights = ".npz, .safetensors, .pt, JSON, network.json, a model's folder, or - (stdin)"

    format: str = option(
        "auto", TEXT, "format of the file: auto, or one of docs/models-and-layers.md"
    )
    prefix: str | None = option(
        None, TEXT, "prefix of the layer's arrays, in a file with several layers"
    )
    heads: int | None = option(None, SIZE, "number of heads, if the file does not give it")
    scale: str | None = option(
        None,
        one_of(*SCALES),
        f"scale of the logits: {' | '.join(SCALES)}; default: from the file",
    )
    logit_unit: str | None = option(
        None,
        one_of(*UNITS),
        f"unit of the logits: {' | '.join(UNITS)}; default: from the file, else e",
    )
    mask: str = option(
        "none",
        path("none", "causal"),
        "none | causal | FILE of shape (T, n), with 1 or true for a row that is seen",
    )
    tolerance: str | None = option(
        None,
        exact(),
        "largest allowed error; default: 1 % of the labels' spread or, for whole-number "
        "labels, each output nearest to its own label",
    )
    computed_in: str | None = option(
        None,
        one_of(*FORMATS),
        f"also judge the outputs computed in {' | '.join(FORMATS)}, with sums in any order",
    )
