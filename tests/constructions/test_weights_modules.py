"""Modules with PyTorch's interface, built on NumPy: weights and forward passes without PyTorch.

tests/constructions/test_weights_torch.py tests the same for PyTorch's own modules, if it is
installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.third_party import gaps, third_party

import attncert
from attncert.constructions.errors import InputError
from attncert.constructions.weights.recording import Recording
from attncert.verify.third_party.layer.mask import read_mask, visible_rows

D, HEADS, N, BATCH = 4, 2, 3, 2
RNG = np.random.default_rng(8)


class Tensor:
    def __init__(self, array: Any) -> None:
        self.array, self.layout = np.asarray(array), "torch.strided"
        self.dtype = f"torch.{self.array.dtype}"

    def detach(self) -> Tensor:
        return self

    cpu = detach

    def numpy(self) -> Any:
        return self.array


class Module:
    """The part of torch.nn.Module that the toolkit uses. Hooks are called as PyTorch calls them."""

    def __init__(self, parts: dict[str, Module] | None = None, **arrays: Any) -> None:
        self.parts, self.arrays = parts or {}, arrays
        self.before: list[tuple[Callable[..., Any], bool]] = []
        self.after: list[tuple[Callable[..., Any], bool]] = []

    def state_dict(self) -> dict[str, Tensor]:
        own = {name: Tensor(x) for name, x in self.arrays.items()}
        for name, part in self.parts.items():
            own |= {f"{name}.{key}": x for key, x in part.state_dict().items()}
        return own

    def modules(self) -> list[Module]:
        return [self, *(inner for part in self.parts.values() for inner in part.modules())]

    def children(self) -> list[Module]:
        return list(self.parts.values())

    def named_modules(self, remove_duplicate: bool) -> list[tuple[str, Module]]:
        return [("", self), *self.parts.items()]

    def register_forward_pre_hook(self, hook: Any, with_kwargs: bool = False) -> Any:
        self.before.append((hook, with_kwargs))
        return SimpleNamespace(remove=lambda: self.before.remove((hook, with_kwargs)))

    def register_forward_hook(self, hook: Any, with_kwargs: bool = False) -> Any:
        self.after.append((hook, with_kwargs))
        return SimpleNamespace(remove=lambda: self.after.remove((hook, with_kwargs)))

    def forward(self, x: Tensor) -> Tensor:
        return Tensor(x.array @ self.arrays["weight"].T + self.arrays["bias"])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook, with_kwargs in self.before:
            hook(self, args, *([kwargs] if with_kwargs else []))
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs in self.after:
            hook(self, args, *([kwargs] if with_kwargs else []), result)
        return result


class Attention(Module):
    def __init__(self, is_causal: bool = False) -> None:
        self.layer = third_party("q_proj out_proj", RNG, d=D, heads=HEADS, dtype=np.float64)
        names = ("q_proj", "k_proj", "v_proj", "out_proj")
        super().__init__(
            {
                name: Module(**{x: self.layer.state[f"{name}.{x}"] for x in ("weight", "bias")})
                for name in names
            }
        )
        self.num_heads, self.is_causal = HEADS, is_causal

    def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Any:
        q, k, v = (
            self.parts[f"{name}_proj"](x).array.reshape(BATCH, -1, HEADS, 2) for name in "qkv"
        )
        n = x.array.shape[1]
        seen = np.tril(np.ones((n, n), dtype=bool)) if self.is_causal else np.ones((n, n), bool)
        if attention_mask is not None:
            seen = attention_mask.array == 0 if "float" in attention_mask.dtype else (
                attention_mask.array
            )  # fmt: skip
        logits = np.einsum("blhc,bshc->bhls", q, k) / np.sqrt(2)
        p = np.exp(np.where(seen, logits, -np.inf))
        with np.errstate(invalid="ignore"):  # a query that sees nothing
            p = p / p.sum(axis=3, keepdims=True)
        mixed = np.einsum("bhls,bshc->blhc", p, v)
        return self.parts["out_proj"](Tensor(mixed.reshape(BATCH, n, -1))), None


class Fused(Module):
    """A module like nanoGPT's, which is causal internally without an attribute that says so."""

    num_heads = HEADS

    def __init__(self) -> None:
        self.layer = third_party("nanogpt", RNG, d=D, heads=HEADS, dtype=np.float64)
        state = self.layer.state
        parts = {
            name: Module(**{x: state[f"{name}.{x}"] for x in ("weight", "bias")})
            for name in ("c_attn", "c_proj")
        }
        super().__init__(parts)

    def forward(self, x: Tensor) -> Tensor:
        self.parts["c_attn"](x)
        B, n, d = x.array.shape
        alone = replace(self.layer, parts=self.layer.parts | {"o": np.eye(d), "bo": np.zeros(d)})
        mask = np.tile(np.tril(np.ones((n, n), dtype=bool)), (B, 1))
        mixed = alone.outputs(np.repeat(x.array, n, axis=0), x.array.reshape(-1, d), mask)
        return self.parts["c_proj"](Tensor(mixed.reshape(B, n, d)))


def agrees(module: Module, taken: Recording) -> None:
    weights = attncert.Weights.from_torch(module, format="hf")
    assert abs(gaps(weights, taken.data)).max() < 1e-12


def test_a_forward_pass_is_recorded() -> None:
    for causal in (False, True):
        module = Attention(causal)
        with attncert.record(module) as taken:
            module(Tensor(RNG.normal(size=(BATCH, N, D))))
        assert taken.data.T == BATCH * N and taken.data.ragged == causal
        agrees(module, taken)
        with attncert.record(module, positions=[0, -1]) as some:
            for n in (2, N):
                module(Tensor(RNG.normal(size=(BATCH, n, D))))
        assert some.data.T == 4 * BATCH and some.data.ragged
        agrees(module, some)
    hooked = [part for part in module.modules() if part.before or part.after]
    assert not hooked, "hooks are taken off"


def test_gpt_names_are_causal_where_the_module_does_not_say() -> None:
    module, x = Fused(), Tensor(RNG.normal(size=(BATCH, N, D)))
    with attncert.record(module) as taken:
        module(x)
    agrees(module, taken)
    module.is_causal = False  # type: ignore[attr-defined]
    for asked in (None, True):
        with attncert.record(module, causal=asked) as taken:
            module(x)
        assert taken.data.ragged == (asked is True)


def test_a_module_of_no_listed_type_is_read_where_that_is_asked_for() -> None:
    module = Attention()
    with pytest.raises(
        InputError, match=r'with format="hf", which assumes plain .* not of type Att'
    ):
        attncert.Weights.from_torch(module)
    assert attncert.Weights.from_torch(module, format="hf").type == ""


class Odd(Attention):
    """A module that runs its projections on these inputs, by position or name, in this order."""

    def __init__(self, *runs: tuple[str, Any], **named: Any) -> None:
        super().__init__()
        self.runs, self.named = runs, named

    def forward(self, x: Tensor) -> Any:
        for name, inputs in self.runs:
            self.parts[f"{name}_proj"](*inputs, **self.named)
        return x


ONE = Tensor(np.ones((BATCH, N, D)))
FOUR = Tensor(np.ones((BATCH, 2, N, D)))
ODD: dict[str, tuple[Odd, str]] = {
    "computes with the weights": (Odd(), "one that computes without a projection for the query"),
    "no output": (Odd(("q", [ONE]), ("k", [ONE])), "without a projection for the output"),
    "windows": (
        Odd(("q", [FOUR]), ("k", [FOUR]), ("out", [FOUR])), r"one with query \(2, 2, 3, 4\), cont"
    ),
    "two queries": (Odd(("q", [ONE]), ("q", [ONE])), "one with a second query in a pass"),
    "a scale beside": (Odd(("q", [ONE, ONE])), "does not pass its query as one tensor"),
    "no tensor": (Odd(("k", [[1]])), "does not pass its context as one tensor"),
    "other queries": (
        Odd(("q", [ONE]), ("k", [ONE]), ("out", [Tensor(ONE.array[:, :2])])),
        r"one with query \(2, 3, 4\), context \(2, 3, 4\), output \(2, 2, 4\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_a_module_that_is_run_otherwise_is_one_line(name: str) -> None:
    module, line = ODD[name]
    must = r"module \(Odd\): must be a layer on \(B, n, d\) .*, not .*"
    with pytest.raises(InputError, match=must + line), attncert.record(module):
        module(ONE)
    assert not any(part.before or part.after for part in module.modules())


def test_projections_that_are_no_modules_or_run_by_keyword() -> None:
    heads_apart = Module(**{f"W_{x}": np.ones((HEADS, D, 2)) for x in "QKVO"}, b_Q=np.ones(4))
    with (
        pytest.raises(InputError, match="one whose W_Q is not a mod"),
        attncert.record(heads_apart),
    ):
        pass
    module = Odd(("q", []), ("k", []), ("out", []), x=ONE)
    for _ in range(2):  # a forward pass leaves nothing behind for the next
        with attncert.record(module) as taken:
            module(ONE)
    assert taken.data.T == BATCH * N


def test_a_pass_in_training_mode_is_refused() -> None:
    module = Attention()
    module.training = True  # type: ignore[attr-defined]
    with (
        pytest.raises(InputError, match="the model: must be in eval mode"),
        attncert.record(module),
    ):
        module(Tensor(RNG.normal(size=(BATCH, N, D))))


def test_the_fast_path_is_off_while_a_pass_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = [True]
    mha = SimpleNamespace(
        get_fastpath_enabled=lambda: fast[-1], set_fastpath_enabled=lambda x: fast.append(x)
    )
    torch = SimpleNamespace(backends=SimpleNamespace(mha=mha))
    monkeypatch.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]
    with pytest.raises(KeyError), attncert.record(Attention()):
        assert not fast[-1]
        raise KeyError
    assert fast == [True, False, True]


def test_masks_are_carried(tmp_path: Path) -> None:
    module = Attention()
    x = Tensor(RNG.normal(size=(BATCH, N, D)))
    visible = np.ones((BATCH, 1, N, N), dtype=bool)
    visible[0, 0, 1] = [True, False, True]
    low = np.where(visible, 0, np.finfo(np.float32).min).astype(np.float32)
    for mask in (visible, low):
        with attncert.record(module) as taken:
            module(x, attention_mask=Tensor(mask))
        assert taken.data.counts == (3, 2, 3, 3, 3, 3)
        assert taken.data.rows(1).floats().tolist() == x.array[0, [0, 2]].tolist()
        agrees(module, taken)
    data, beside = taken.save(tmp_path / "batch.npz")
    padded = attncert.load(data)
    mask, recorded = read_mask(str(beside), padded)
    assert (visible_rows(padded, mask).sha256, beside.name) == (taken.data.sha256, "batch.mask.npz")
    assert recorded is not None and (recorded.outputs == taken.outputs).all()
    visible[0, 0, 2] = False  # this query sees nothing: it is left out
    with attncert.record(module) as taken:
        module(x, attention_mask=Tensor(visible))
    assert taken.data.T == BATCH * N - 1
    for wrong, line in ((low / 1e38, "one that changes logits"), (None, "the same for all heads")):
        mask = np.array([[[[1, 0, 1]], [[1, 1, 1]]]]) if wrong is None else wrong
        with pytest.raises(InputError, match=line), attncert.record(module):
            module(x, attention_mask=Tensor(mask))


def test_labels_of_ones_own(tmp_path: Path) -> None:
    module = Attention()
    with attncert.record(module, positions=[-1]) as taken:
        module(Tensor(RNG.normal(size=(BATCH, N, D))))
    taken = taken.labelled([3, 4])
    assert taken.data.labels.strings() == [["3"], ["4"]]
    path, _ = taken.save(tmp_path / "batch.npz")
    assert attncert.load(path).labels.strings() == [["3"], ["4"]]
    with pytest.raises(InputError, match=r"path: must be one that ends in \.npz"):
        taken.save(tmp_path / "batch")
    for labels, line in (([3], "one for each of the 2"), ([3, "x"], r"an integer, .* not 'x'")):
        with pytest.raises(InputError, match=line):
            taken.labelled(labels)
    with pytest.raises(InputError, match=r"labels: must be numbers that an \.npz can hold exactly"):
        taken.labelled(["1/3", 1]).save(path)


def test_what_is_refused() -> None:
    model = Module({"layers": Module({"a": Attention(), "b": Attention()})})
    with pytest.raises(InputError, match=r"must be one of layers\.a, layers\.b, not left out"):
        attncert.Weights.from_torch(model, format="hf")
    with pytest.raises(InputError, match="module: must be a PyTorch module, not of type int"):
        attncert.Weights.from_torch(3)
    with (
        pytest.raises(InputError, match=r"itself, not one with it at layers\.a, layers\.b"),
        attncert.record(model),
    ):
        pass
    module = Attention()
    with pytest.raises(InputError, match="positions: must be from -3 to 2"):  # noqa: SIM117
        with attncert.record(module, positions=[3]):
            module(Tensor(RNG.normal(size=(BATCH, N, D))))
    with attncert.record(module) as taken:
        pass
    for ask in (lambda: taken.data, lambda: taken.outputs, lambda: taken.labelled([])):
        with pytest.raises(InputError, match="must be run at least once inside"):
            ask()
    for wrong in (3, ["a"], [0.5]):
        with (
            pytest.raises(InputError, match="positions: must be a l"),
            attncert.record(module, wrong),
        ):
            pass
    with pytest.raises(InputError, match="a PyTorch module"), attncert.record(Attention):
        pass
    module.parts["q_proj"].arrays["weight"] = module.parts["q_proj"].arrays["weight"].astype(int)
    with pytest.raises(InputError, match=r"q_proj\.weight: must be of float16, bfloat16"):
        attncert.Weights.from_torch(module, format="hf")
