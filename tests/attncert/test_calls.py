"""Questions asked from Python: a call with unusable arguments gives a one-line error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError

DATA = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
LAYER = attncert.Weights.load("examples/trained/after.npz", heads=3)
CALLS: dict[str, tuple[Any, ...]] = {
    "prove": (DATA,), "fit": (DATA,), "capacity": (DATA,),
    "compare": (DATA,), "audit": (), "attack": (), "layer": (LAYER, DATA),
    "kruskal": (DATA,), "assume": (DATA,),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_what_a_function_cannot_take_is_one_line(name: str) -> None:
    function, sources = getattr(attncert, name), CALLS[name]
    for wrong in (3, {"heads": 3}, "heads=3"):
        with pytest.raises(InputError, match="question: must be of type "):
            function(*sources, wrong)
    with pytest.raises(InputError, match=r"(seed|examples): must be an option of the question, "):
        function(*sources, **{"examples" if name == "layer" else "seed": 1})
    if sources:
        with pytest.raises(InputError, match="must be "):
            function(*sources[:-1], "data.npz")
    with pytest.raises(TypeError, match="unexpected keyword argument 'sead'"):
        function(*sources, sead=3)


def test_other_arguments_of_a_layer_are_one_line() -> None:
    with pytest.raises(InputError, match="mask: must be of type ndarray, not 'causal'"):
        attncert.layer(LAYER, DATA, mask="causal")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="weights: must be of type StoredLayer or Network or"):
        attncert.layer(3, DATA)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"must be of type Dataset, not a list of 50$"):
        attncert.prove([[1, 2]] * 50)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"heads: must be a whole number from 1 to .*, not '3'$"):
        attncert.Prove(heads="3")  # type: ignore[arg-type]


def test_a_question_says_what_was_set() -> None:
    assert repr(attncert.Prove(heads=3, value_width=None)) == "Prove(heads=3)"
    assert repr(attncert.prove(DATA, attncert.Prove(heads=3)).question) == "Prove(heads=3)"


class Tensor:
    """The part of a PyTorch tensor's interface that the toolkit uses."""

    def __init__(self, numbers: Any, dtype: str = "torch.int64") -> None:
        self.array, self.dtype = np.asarray(numbers), dtype

    def detach(self) -> Tensor:
        return self

    cpu = detach

    def float(self) -> Tensor:
        return Tensor(self.array.astype(np.float32))

    def numpy(self) -> Any:
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.array


def test_tensors_are_data() -> None:
    contexts, queries, labels = [[1, 0], [0, 1]], [[1, 2], [3, 1]], [1, 0]
    plain = Dataset.of(contexts, queries, labels)
    short = Tensor(queries, "torch.bfloat16")
    assert Dataset.of(Tensor(contexts), short, Tensor(labels)).sha256 == plain.sha256
    ragged = Dataset.of([Tensor(contexts), Tensor(contexts[:1])], queries, labels)
    assert ragged.counts == (2, 1)
    assert attncert.kruskal(Tensor(queries)).standing.value == "proved"

    class Meta(Tensor):
        def numpy(self) -> Any:
            raise NotImplementedError("Cannot copy out of meta tensor")

    with pytest.raises(InputError, match="queries: must be a dense array, not a Meta"):
        Dataset.of(contexts, Meta(queries), labels)
    with pytest.raises(InputError, match="queries: must be a dense array, not a MaskedArray"):
        Dataset.of(contexts, np.ma.masked_equal(queries, 3), labels)
