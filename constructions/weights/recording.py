"""Queries, contexts and outputs of a layer inside a model, recorded in a forward pass.

Hooks record the arguments and the result of torch.nn.MultiheadAttention or of a transformer's
layer; for other attention, they record the inputs of the query and key projections and the result
of the output projection. Every query position is an example: its context is the rows that it sees.
PyTorch is not imported here."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray, BoolArray, FloatArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.weights.files import of_tensor, require_module
from attncert.constructions.weights.load import Selection
from attncert.constructions.weights.naming import NAMINGS, Place, places

_NOTED = ("query", "context", "output")
_MASKS = ("attention_mask", "attn_mask")  # mask arguments outside PyTorch's own modules
_POSITIONS = ("position_ids", "cache_position", "position_embeddings")  # effect seen in outputs
_UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
_MASKED = 0.5  # a float below this multiple of its dtype's lowest number hides a row


@dataclass
class Recording:
    """T recorded examples, one for each query position of each pass: query (d,), the rows that it
    sees (n, d), output (m,). unit: the largest unit roundoff of the recorded numbers."""

    examples: list[tuple[FloatArray, FloatArray, FloatArray]] = field(default_factory=list)
    name: str = "recorded"
    unit: float = 2.0**-24
    labels: ExactArray | None = None

    def __repr__(self) -> str:
        return in_brief(self, self.name, examples=len(self.examples))

    def array(self, tensor: Any, name: str) -> AnyArray:
        """The numbers of a tensor; its roundoff is recorded. Raises InputError."""
        self.unit = max(self.unit, _UNITS.get(str(tensor.dtype).removeprefix("torch."), 0))
        return of_tensor(tensor, name)

    def require_examples(self) -> None:
        """Raises InputError if no pass was recorded."""
        if not self.examples:
            must = "run at least once inside `with record(module)`"
            raise InputError("the module", must, "run")

    @property
    def data(self) -> Dataset:
        """The data set; its labels are the exact outputs unless others were given."""
        contexts, counts, queries, labels = self._arrays()
        data = Dataset.of(contexts, queries, labels, self.name)
        return data if len(set(counts)) == 1 else replace(data, counts=counts)

    @property
    def outputs(self) -> FloatArray:
        """The outputs of the layer, (T, m). Raises InputError if nothing was recorded."""
        self.require_examples()
        return np.stack([output for _, _, output in self.examples])

    def labelled(self, labels: Any) -> Recording:
        """The recording with these labels, (T,) or (T, m). Raises InputError."""
        self.require_examples()
        judged = Dataset.of([[0]], [[0]] * len(self.examples), labels)  # checks the labels
        return replace(self, labels=judged.labels)

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write an .npz for `attncert layer`, and NAME.mask.npz for --mask, with the mask and the
        outputs, which the layer as read must reproduce. Raises InputError."""
        path = Path(path)
        if path.suffix != ".npz":
            raise InputError("path", "one that ends in .npz", path)
        contexts, counts, queries, labels = self._arrays()
        if isinstance(labels, ExactArray):
            exact, labels = labels, labels.floats()
            if not np.isfinite(labels).all() or ExactArray.of(labels).strings() != exact.strings():
                raise InputError("labels", "numbers that an .npz can hold exactly", "others")
        np.savez(path, contexts=contexts, queries=queries, labels=labels)
        beside = path.with_suffix(".mask.npz")
        mask = np.arange(max(counts)) < np.array(counts)[:, None]
        np.savez(beside, mask=mask, outputs=self.outputs, unit=np.float64(self.unit))
        return [path, beside]

    def _arrays(self) -> tuple[FloatArray, tuple[int, ...], FloatArray, Any]:
        """Contexts (T, n, d), padded with zeros; their token counts; queries and labels."""
        self.require_examples()
        queries, rows, outputs = zip(*self.examples, strict=True)
        counts = tuple(map(len, rows))
        contexts = np.zeros((len(rows), max(counts), rows[0].shape[1]), np.result_type(*rows))
        for context, tokens in zip(contexts, rows, strict=True):
            context[: len(tokens)] = tokens
        labels = np.stack(outputs) if self.labels is None else self.labels
        return contexts, counts, np.stack(queries), labels


@contextmanager
def record(
    module: Any, positions: Sequence[int] | None = None, causal: bool | None = None
) -> Iterator[Recording]:
    """Record the inputs and outputs of a layer while the `with` block runs.

    module: torch.nn.MultiheadAttention, a module with q/k/v/o projections (`Weights.from_torch`),
    or a transformer's layer that contains one of these, on batches (B, n, d). positions: the places
    of the queries that become examples (-1: the last); default: all. causal: whether position i
    sees only rows up to i, whatever mask is passed; by default the mask, then the module's
    `is_causal`, then GPT-2's names (c_attn) decide. Set `causal` for a module that masks
    internally. Queries that see no row are left out.

    Raises InputError for a module without exactly one attention layer, a mask that changes logits
    or differs between heads, a pass that does not run each projection once, another tensor among
    the arguments, and a pass in training mode. If anything else acts inside the module, the outputs
    show it. Arithmetic: the module's, kept exactly. Source: docs/models-and-layers.md.

    >>> with record(model.layers[3].self_attn) as recording:  # doctest: +SKIP
    ...     model(batch)
    >>> recording.save("layer-3.npz")  # doctest: +SKIP
    >>> with record("layers.3"):
    ...     pass
    Traceback (most recent call last):
    attncert.InputError: module: must be a PyTorch module, not of type str
    """
    require_module(module)
    numbers = np.asarray([0] if positions is None else positions)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise InputError("positions", "a list of whole numbers", positions)
    names, must = list(module.state_dict()), "the attention module itself"
    inside = [place.label for place in places(names, NAMINGS) if place.prefix]
    if len(inside) > 1:
        raise InputError("module", must, f"one with it at {', '.join(inside)}")
    if (place := Selection().place(names, "module")) is None:
        raise InputError("module", must, "another")
    recording = Recording(name=type(module).__name__)
    current = _Pass(recording, positions, causal, module, place.naming.causal)
    named = {"query", "key", "value"} <= inspect.signature(module.forward).parameters.keys()
    fused = place.naming.format == "torch-mha" and named
    hooks = _hooks_on_arguments if fused or inside else _hooks_on_projections
    handles = hooks(module, place, current)
    try:
        with _every_module_called():
            yield recording
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _every_module_called() -> Iterator[None]:
    """Switch off PyTorch's fast path, which bypasses modules and nests padded batches."""
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
    """One forward pass, in which each projection reads or writes one tensor, once: queries (B, L,
    d), contexts (B, S, d), outputs (B, L, m). Raises InputError otherwise."""

    recording: Recording
    positions: Sequence[int] | None
    causal: bool | None
    module: Any
    usual: bool
    arrays: dict[str, AnyArray] = field(default_factory=dict)

    def note(self, name: str, *passed: Any) -> None:
        """Record an array. passed: the arguments of a projection, or its results."""
        if len(passed) != 1 or not hasattr(passed[0], "detach"):
            raise self.another(f"one that does not pass its {name} as one tensor")
        if name in self.arrays:
            raise self.another(f"one with a second {name} in a pass")
        self.arrays[name] = self.recording.array(passed[0], name)

    def require_layer(self) -> None:
        if absent := [name for name in _NOTED if name not in self.arrays]:
            raise self.another(f"one that computes without a projection for the {absent[0]}")
        query, context, output = shapes = [self.arrays[name].shape for name in _NOTED]
        axes = {len(shape) for shape in shapes}
        if axes != {3} or query[:-1] != output[:-1] or query[:-2] != context[:-2]:
            listed = ", ".join(f"{name} {x}" for name, x in zip(_NOTED, shapes, strict=True))
            raise self.another(f"one with {listed}")

    def another(self, actual: str) -> InputError:
        must = "a layer on (B, n, d) that runs its projections once in a pass"
        return InputError(f"module ({type(self.module).__name__})", must, actual)

    def causal_rows(self, masked: bool, stated: Any) -> bool:
        """Whether each position sees only positions up to itself, apart from the effect of a
        mask."""
        if self.causal is not None:
            return self.causal
        parts = [getattr(part, "is_causal", None) for part in self.module.modules()]
        words = [stated] if isinstance(stated, bool) else [x for x in parts if isinstance(x, bool)]
        return (any(words) and not masked) if words else self.usual

    def finish(self, mask: BoolArray | None, stated: Any = None) -> None:
        """Record the examples. mask: (B or 1, L or 1, S), True if a row is seen."""
        if getattr(self.module, "training", False):
            must = "in eval mode while it is recorded: dropout is not part of a layer"
            raise InputError("the model", must, "in training mode")
        queries, contexts, outputs = (self.arrays[name] for name in _NOTED)
        B, L, S = len(queries), queries.shape[1], contexts.shape[1]
        if mask is not None and not _fits(mask.shape, (B, L, S)):
            raise InputError("mask", f"of a shape that fits {(B, L, S)}", mask.shape)
        rows = np.ones((L, S), dtype=bool)
        whole = mask is not None and mask.shape[1] == L > 1  # not only padding
        if self.causal_rows(whole, stated):
            rows = np.tril(rows, S - L)
        visible = np.broadcast_to(rows if mask is None else rows & mask, (B, L, S))
        positions = np.arange(L)
        if self.positions is not None:
            if any(not -L <= i < L for i in self.positions):
                raise InputError("positions", f"from {-L} to {L - 1}", list(self.positions))
            positions = positions[list(self.positions)]
        for b, i in np.argwhere(visible.any(axis=2)):
            if i in positions:
                example = queries[b, i], contexts[b, visible[b, i]], outputs[b, i]
                self.recording.examples.append(example)


def _hooks_on_arguments(module: Any, place: Place, current: _Pass) -> list[Any]:
    """Hooks of torch.nn.MultiheadAttention, on its arguments and its result; or of a layer of a
    transformer, whose first argument is query, key and value."""
    layer = place.prefix != ""

    def after(_: Any, args: Any, kwargs: Any, results: Any) -> None:
        arguments = inspect.signature(module.forward).bind(*args, **kwargs).arguments
        current.arrays.clear()
        for name, key in (("query", "query"), ("context", "key"), ("value", "value")):
            current.note(name, next(iter(arguments.values())) if layer else arguments.get(key))
        current.note("output", results[0] if isinstance(results, tuple) else results)
        arrays = current.arrays
        if place.naming.apart:  # query, key and value side by side
            wide = np.concatenate([arrays["context"], arrays["value"]], axis=2)
            before, after = arrays["query"].shape[2], wide.shape[2]
            arrays["query"] = np.pad(arrays["query"], ((0, 0), (0, 0), (0, after)))
            arrays["context"] = np.pad(wide, ((0, 0), (0, 0), (before, 0)))
        elif not np.array_equal(arrays["context"], arrays["value"]):
            raise InputError("value", "the same as key, since both are the context", "another")
        if not getattr(module, "batch_first", layer):
            current.arrays = {name: x.swapaxes(0, 1) for name, x in arrays.items()}
        current.require_layer()
        seen = _masked(module, args, kwargs, current) if layer else _visible_rows(arguments)
        current.finish(seen, kwargs.get("is_causal") if layer else None)

    return [module.register_forward_hook(after, with_kwargs=True)]


def _visible_rows(arguments: dict[str, Any]) -> BoolArray | None:
    """The rows that PyTorch's two masks show; True, or a number far below 0, hides a row."""
    masks = []
    attn, padding = arguments.get("attn_mask"), arguments.get("key_padding_mask")
    if attn is not None:
        visible = _visible(attn, "attn_mask", hidden=True)
        if visible.ndim != 2:
            raise InputError("attn_mask", "(L, S), the same for all heads", visible.shape)
        masks.append(visible[None])
    if padding is not None:
        visible = _visible(padding, "key_padding_mask", hidden=True)
        masks.append(visible[:, None, :])
    if not masks:
        return None
    return masks[0] if len(masks) == 1 else masks[0] & masks[1]


def _hooks_on_projections(module: Any, place: Place, current: _Pass) -> list[Any]:
    """Hooks of other modules, on the inputs of the query and the key projection and on the result
    of the output projection."""
    names = [weight.removesuffix(".weight") for weight in place.naming.weights]
    parts = dict(module.named_modules(remove_duplicate=False))
    if absent := [name for name in names if name not in parts]:
        raise current.another(f"one whose {absent[0]} is not a module")
    first, *others, last = (parts[name] for name in names)
    second = others[0] if others else first

    def before(name: str) -> Any:
        return lambda _, args, kwargs: current.note(name, *args, *kwargs.values())

    def after(_: Any, args: Any, kwargs: Any, results: Any) -> None:
        current.require_layer()
        current.finish(_masked(module, args, kwargs, current), kwargs.get("is_causal"))

    return [
        module.register_forward_pre_hook(lambda *_: current.arrays.clear()),
        first.register_forward_pre_hook(before("query"), with_kwargs=True),
        second.register_forward_pre_hook(before("context"), with_kwargs=True),
        last.register_forward_hook(
            lambda _, args, passed: current.note(
                "output", *(passed if isinstance(passed, tuple) else (passed,))
            )
        ),
        module.register_forward_hook(after, with_kwargs=True),
    ]


def _masked(module: Any, args: Any, kwargs: Any, current: _Pass) -> BoolArray | None:
    """The rows that the mask among the arguments shows. Raises InputError for other tensors."""
    visible = None
    for name, tensor in _tensors(module, args, kwargs):
        if name in _MASKS:
            visible = _rows(tensor, name)
        elif not any(_same(tensor, name, current.arrays[x]) for x in ("query", "context")):
            must = "left out while a layer is recorded: what it does there is not known"
            raise InputError(name, must, "given")
    return visible


def _tensors(module: Any, args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
    """The tensors among the arguments after the first, by name, including those in lists."""
    arguments = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    for name, argument in list(arguments.items())[1:]:
        inner = argument.items() if isinstance(argument, dict) else [(name, argument)]
        for key, some in inner:
            for tensor in some if isinstance(some, list | tuple) else (some,):
                if hasattr(tensor, "detach") and key not in _POSITIONS:
                    yield key, tensor


def _same(tensor: Any, name: str, array: AnyArray) -> bool:
    return tuple(tensor.shape) == array.shape and np.array_equal(of_tensor(tensor, name), array)


def _rows(mask: Any, name: str) -> BoolArray:
    """The rows that each query sees, by the mask (B, 1, L, S) or (B, S) of another module."""
    visible = _visible(mask, name, hidden=False)
    if visible.ndim == 4:
        if visible.shape[1] != 1:
            raise InputError("mask", "the same for all heads", "one for each")
        return visible[:, 0]
    return visible[:, None, :] if visible.ndim == 2 else visible  # padding


def _visible(mask: Any, name: str, *, hidden: bool) -> BoolArray:
    """The mask, True for each row that is seen. hidden: whether True hides a row instead. A
    float 0 shows a row and the lowest number hides it. Raises InputError for any other number."""
    kind = str(mask.dtype).removeprefix("torch.")
    if not kind.startswith(("float", "bfloat")):
        return mask.detach().cpu().numpy().astype(bool) ^ hidden
    array = of_tensor(mask, name)
    lowest = float(np.finfo(np.float16 if kind == "float16" else np.float32).min) * _MASKED
    low = array <= lowest
    if not (low | (array == 0)).all():
        raise InputError(name, "a mask of zeros and the lowest number", "one that changes logits")
    return ~low


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    return len(shape) == len(whole) and all(x in (1, y) for x, y in zip(shape, whole, strict=True))
