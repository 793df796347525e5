"""Queries, contexts and outputs of an attention layer inside a model, recorded in a forward pass.

Hooks note what enters and leaves the layer: in torch.nn.MultiheadAttention its arguments and its
result; elsewhere the input of the query projection, the input of the key projection, and the output
of the output projection, so that what surrounds them (dropout, residuals, norms) stays outside.
Every query position is an example: its context is the whole sequence, and a mask says which rows
it may see (causal, padding). PyTorch is not imported here: modules and tensors speak for
themselves.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray, BoolArray, FloatArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.weights.files import of_tensor
from attncert.constructions.weights.load import Asked
from attncert.constructions.weights.naming import Place, places
from attncert.constructions.weights.namings import NAMINGS

_MASKS = ("attention_mask", "attn_mask")  # of modules that are not PyTorch's own
_POSITIONS = ("position_ids", "cache_position")  # where they act, it shows in the outputs
_UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
_MASKED = 0.5  # of the lowest number of a dtype: below it a float mask means "not seen"


@dataclass
class Recording:
    """What was recorded: T examples, one for each query position and pass.

    queries (T, d), contexts (T, n, d), outputs (T, m), mask (T, n), True where a row is seen.
    Sequences of several lengths are filled up with zeros that no query sees. unit: the largest
    unit roundoff of the numbers that were recorded, float32 at least, in which libraries compute
    softmax. labels: (T,) or (T, m); None: the outputs.
    """

    passes: list[tuple[FloatArray, FloatArray, FloatArray, BoolArray]] = field(default_factory=list)
    name: str = "recorded"
    unit: float = 2.0**-24
    labels: Any = None

    def __repr__(self) -> str:
        return in_brief(self, self.name, passes=len(self.passes), examples=self._T)

    @property
    def _T(self) -> int:
        return sum(len(queries) for queries, *_ in self.passes)

    def _arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        if not self._T:
            must = "run once at least inside `with record(module)`"
            raise InputError("the module", must, "run")
        longest = max(contexts.shape[1] for _, contexts, _, _ in self.passes)
        queries, contexts, outputs, mask = zip(*self.passes, strict=True)
        wide = [np.pad(x, ((0, 0), (0, longest - x.shape[1]), (0, 0))) for x in contexts]
        seen = [np.pad(x, ((0, 0), (0, longest - x.shape[1]))) for x in mask]
        return tuple(map(np.concatenate, (queries, wide, outputs, seen)))  # type: ignore[return-value]

    def array(self, tensor: Any, name: str) -> AnyArray:
        """A tensor's numbers, whose roundoff counts. Raises InputError."""
        self.unit = max(self.unit, _UNITS.get(str(tensor.dtype).removeprefix("torch."), 0))
        return of_tensor(tensor, name)

    @property
    def data(self) -> Dataset:
        """The data set: without labels of its own, with the outputs exactly as they came."""
        queries, contexts, outputs, _ = self._arrays()
        labels = outputs if self.labels is None else self.labels
        return Dataset.of(contexts, queries, labels, self.name)

    @property
    def mask(self) -> BoolArray | None:
        """(T, n); None where every query sees all."""
        mask = self._arrays()[3]
        return None if mask.all() else mask

    @property
    def outputs(self) -> FloatArray:
        """(T, m), of the layer."""
        return self._arrays()[2]

    def labelled(self, labels: Any) -> Recording:
        """The same with these labels, (T,) or (T, m)."""
        return replace(self, labels=labels)

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """An .npz for `attncert layer`, and beside it NAME.mask.npz for --mask: with the mask and
        the outputs, which the layer as it is read must give."""
        path = Path(path)
        if path.suffix != ".npz":
            raise InputError("path", "one that ends in .npz", path)
        queries, contexts, outputs, mask = self._arrays()
        labels = outputs if self.labels is None else np.asarray(self.labels)
        np.savez(path, contexts=contexts, queries=queries, labels=labels)
        beside = path.with_suffix(".mask.npz")
        np.savez(beside, mask=mask, outputs=outputs, unit=np.float64(self.unit))
        return [path, beside]


@contextmanager
def record(
    module: Any, positions: Sequence[int] | None = None, causal: bool | None = None
) -> Iterator[Recording]:
    """Record what an attention module sees and does while the block runs.

    module: torch.nn.MultiheadAttention, or one with q/k/v/o projections (`Weights.from_torch`).
    positions: of the queries that become examples, in each sequence, -1 the last; default: all.
    causal: whether position i sees rows up to i alone, whatever mask is passed; default: where none
    is passed, what the module says in `is_causal`; without that, yes for GPT-2's names (c_attn) and
    no for others. A module that masks by itself and has no such attribute needs it. Queries that
    see nothing are left out.
    PyTorch's fast path is off in the block: it goes past modules. Raises InputError where the
    module, or a mask that is more than a mask, is none of ours, where another tensor is among the
    module's arguments, and where a pass is run in training mode: dropout is no part of a layer.
    What acts inside the module and is no argument, the answer sees by the outputs.

    >>> with record(model.layers[3].self_attn) as seen:  # doctest: +SKIP
    ...     model(batch)
    >>> seen.save("layer-3.npz")  # doctest: +SKIP
    """
    if not hasattr(module, "state_dict") or not hasattr(module, "register_forward_hook"):
        raise InputError("module", "a PyTorch module", f"of type {type(module).__name__}")
    names, must = list(module.state_dict()), "the attention module itself"
    if inside := [place.shown for place in places(names, NAMINGS) if place.prefix]:
        raise InputError("module", must, f"one with it at {', '.join(inside)}")
    if (place := Asked().place(names, "module")) is None:
        raise InputError("module", must, "another")
    taken = Recording(name=type(module).__name__)
    current = _Pass(positions, causal, module, place.naming.causal)
    fused = place.naming.format == "torch-mha"
    handles = (_hooks_on_arguments if fused else _hooks_on_projections)(
        module, place, current, taken
    )
    try:
        with _every_module_called():
            yield taken
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _every_module_called() -> Iterator[None]:
    """Without PyTorch's fast path of encoders, which goes past the modules in them and turns padded
    batches into nested tensors."""
    mha = getattr(getattr(sys.modules.get("torch"), "backends", None), "mha", None)
    if mha is None:
        yield
        return
    before = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        mha.set_fastpath_enabled(before)


@dataclass
class _Pass:
    """One forward pass: seen: query, context, output, by name. usual: whether modules with these
    names are causal where they do not say."""

    positions: Sequence[int] | None
    causal: bool | None
    module: Any
    usual: bool
    seen: dict[str, AnyArray] = field(default_factory=dict)

    def causal_rows(self, masked: bool, said: Any) -> bool:
        """Whether each position sees those up to itself alone, besides what a mask says."""
        if self.causal is not None:
            return self.causal
        parts = [getattr(part, "is_causal", None) for part in self.module.modules()]
        words = [said] if isinstance(said, bool) else [x for x in parts if isinstance(x, bool)]
        return (any(words) and not masked) if words else self.usual

    def finished(self, mask: BoolArray | None, said: Any = None) -> tuple[Any, ...]:
        """Queries, contexts, outputs and mask, flat; mask: (B or 1, L or 1, S), True where seen.
        said: of this pass, whether it is causal."""
        if getattr(self.module, "training", False):
            must = "in eval mode while it is recorded: dropout is no part of a layer"
            raise InputError("the model", must, "in training mode")
        queries, contexts, outputs = (
            _batched(self.seen[name]) for name in ("query", "context", "output")
        )
        B, L, S = len(queries), queries.shape[1], contexts.shape[1]
        rows = np.ones((L, S), dtype=bool)
        whole = mask is not None and mask.shape[1] == L > 1  # and not of rows alone, as padding is
        if self.causal_rows(whole, said):
            rows = np.tril(rows, S - L)
        mask = np.broadcast_to(rows if mask is None else rows & mask, (B, L, S))
        chosen = np.arange(L)
        if self.positions is not None:
            if any(not -L <= i < L for i in self.positions):
                raise InputError("positions", f"from {-L} to {L - 1}", list(self.positions))
            chosen = chosen[list(self.positions)]
        some = np.zeros(L, dtype=bool)
        some[chosen] = True
        kept = (some & mask.any(axis=2)).ravel()
        each = np.repeat(np.arange(B), L)[kept]
        flat = [x.reshape(B * L, -1)[kept] for x in (queries, outputs, mask)]
        return flat[0], contexts[each], flat[1], flat[2]


def _hooks_on_arguments(module: Any, place: Place, current: _Pass, taken: Recording) -> list[Any]:
    """torch.nn.MultiheadAttention: its arguments and its result."""

    def after(_: Any, args: Any, kwargs: Any, result: Any) -> None:
        given = inspect.signature(module.forward).bind(*args, **kwargs).arguments
        names = {"query": "query", "context": "key", "value": "value"}
        current.seen = {name: taken.array(given[key], key) for name, key in names.items()}
        current.seen["output"] = taken.array(result[0], "output")
        if not np.array_equal(current.seen["context"], current.seen["value"]):
            raise InputError("value", "the same as key: one context", "another")
        if current.seen["query"].ndim == 3 and not module.batch_first:
            current.seen = {name: x.swapaxes(0, 1) for name, x in current.seen.items()}
        mask = _not_hidden(given, module.num_heads)
        taken.passes.append(current.finished(mask))

    return [module.register_forward_hook(after, with_kwargs=True)]


def _not_hidden(given: dict[str, Any], heads: int) -> BoolArray | None:
    """PyTorch's two masks: True, or far below 0, where a row is hidden."""
    masks = []
    attn, padding = given.get("attn_mask"), given.get("key_padding_mask")
    if attn is not None:
        seen = _seen(attn, "attn_mask", hidden=True)
        if seen.ndim == 3:  # (B·H, L, S)
            seen = _same_heads(seen.reshape(-1, heads, *seen.shape[-2:]))
        masks.append(seen if seen.ndim == 3 else seen[None])
    if padding is not None:
        seen = _seen(padding, "key_padding_mask", hidden=True)
        masks.append(np.atleast_2d(seen)[:, None, :])
    if not masks:
        return None
    return masks[0] if len(masks) == 1 else masks[0] & masks[1]


def _hooks_on_projections(module: Any, place: Place, current: _Pass, taken: Recording) -> list[Any]:
    """Other modules: what enters the query and the key projection and leaves the output's."""
    names = [weight.removesuffix(".weight") for weight in place.naming.weights]
    first, second, last = names[0], names[1 if len(names) > 2 else 0], names[-1]

    def entering(name: str) -> Callable[[Any, Any], None]:
        def before(_: Any, args: Any) -> None:
            current.seen[name] = taken.array(args[0], name)

        return before

    def leaving(_: Any, args: Any, result: Any) -> None:
        current.seen["output"] = taken.array(result, "output")

    def after(_: Any, args: Any, kwargs: Any, result: Any) -> None:
        seen = None
        for name, tensor in _tensors(module, args, kwargs):
            if name in _MASKS:
                seen = _rows(tensor, name)
            elif not any(_same(tensor, name, current.seen[x]) for x in ("query", "context")):
                must = "left out while a layer is recorded: what it does there is not known"
                raise InputError(name, must, "given")
        taken.passes.append(current.finished(seen, kwargs.get("is_causal")))

    return [
        module.get_submodule(first).register_forward_pre_hook(entering("query")),
        module.get_submodule(second).register_forward_pre_hook(entering("context")),
        module.get_submodule(last).register_forward_hook(leaving),
        module.register_forward_hook(after, with_kwargs=True),
    ]


def _tensors(module: Any, args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
    """The tensors among the arguments but the first, by name, and those in lists of them."""
    given = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    for name, argument in list(given.items())[1:]:
        inner = argument.items() if isinstance(argument, dict) else [(name, argument)]
        for key, some in inner:
            for one in some if isinstance(some, list | tuple) else (some,):
                if hasattr(one, "detach") and key not in _POSITIONS:
                    yield key, one


def _same(tensor: Any, name: str, array: AnyArray) -> bool:
    return tuple(tensor.shape) == array.shape and np.array_equal(of_tensor(tensor, name), array)


def _rows(mask: Any, name: str) -> BoolArray:
    """Which rows each query sees, by the mask of a module that is not PyTorch's own."""
    seen = _seen(mask, name, hidden=False)
    if seen.ndim == 4:
        return _same_heads(seen)
    return seen[:, None, :] if seen.ndim == 2 else seen  # of rows alone


def _seen(mask: Any, name: str, *, hidden: bool) -> BoolArray:
    """A mask as True where a row is seen. hidden: its truth values say the opposite. Of floats, 0
    is seen and far below it is not. Raises InputError for any other number."""
    kind = str(mask.dtype).removeprefix("torch.")
    if not kind.startswith(("float", "bfloat")):
        return mask.detach().cpu().numpy().astype(bool) ^ hidden
    array = of_tensor(mask, name)
    lowest = float(np.finfo(np.float16 if kind == "float16" else np.float32).min) * _MASKED
    gone = array <= lowest
    if not (gone | (array == 0)).all():
        raise InputError(name, "a mask, of 0 and the lowest number", "one that moves logits")
    return ~gone


def _same_heads(seen: BoolArray) -> BoolArray:
    """(B, H, L, S), the same for all heads, as (B, L, S)."""
    if not (seen == seen[:, :1]).all():
        raise InputError("mask", "the same for all heads", "one for each")
    return seen[:, 0]


def _batched(array: AnyArray) -> AnyArray:
    return array if array.ndim == 3 else array[None]
