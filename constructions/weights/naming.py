"""How libraries name and store the four projections of an attention layer, and where they occur.

Each prefix under which all weights of a naming occur is a layer. Other arrays under it would change
what the layer computes (normalized queries, relative positions): unless they are known to lie
outside attention, such a layer is refused rather than misread."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from attncert.constructions.errors import InputError

Names = tuple[str, str]  # the weight and the bias of a projection
_BUFFERS = ("bias", "masked_bias")  # buffers of causal masks in old files


@dataclass(frozen=True)
class Naming:
    """The weight and bias of query, key and value (or of one projection for all three) and of the
    output. conv: a fused weight may be stored (in, out), as in Conv1D. stacked: weights are (H, d,
    width), the output's (H, width, m) or (H·width, m). apart: keys and values may have widths of
    their own."""

    format: str
    inputs: tuple[Names, ...]
    output: Names
    outside: tuple[str, ...] = ()
    conv: bool = False
    stacked: bool = False
    causal: bool = False
    scale: str = "sqrt-d"
    apart: bool = False

    @property
    def weights(self) -> tuple[str, ...]:
        return tuple(weight for weight, _ in (*self.inputs, self.output))

    @property
    def arrays(self) -> tuple[str, ...]:
        return tuple(name for pair in (*self.inputs, self.output) for name in pair)


@dataclass(frozen=True)
class Place:
    """A layer in a file: its naming, and its prefix, which ends with a dot or is empty."""

    naming: Naming
    prefix: str

    @property
    def label(self) -> str:
        return self.prefix.removesuffix(".")

    def names(self, names: Collection[str]) -> list[str]:
        """The names of the arrays that make this layer, biases included. Raises InputError if other
        arrays under the prefix change what the layer computes."""
        below = [name for name in names if name.startswith(self.prefix)]
        used = {self.prefix + name for name in self.naming.arrays}
        known = used | {self.prefix + name for name in self.naming.outside}
        parts = tuple(name for name in known if name.endswith("."))
        strange = [x for x in below if x not in known and not x.startswith(parts)]
        if strange:
            must = "made of query, key, value and output projections only"
            raise InputError(self.label or "layer", must, f"of {strange[0]!r} as well")
        return sorted(used.intersection(names))


def linear(*modules: str) -> tuple[Names, ...]:
    """The names of the weight and bias of each module.

    >>> linear("q_proj")
    (('q_proj.weight', 'q_proj.bias'),)
    """
    return tuple((f"{module}.weight", f"{module}.bias") for module in modules)


def places(names: Collection[str], namings: Iterable[Naming]) -> list[Place]:
    """Every layer in a file with these arrays, in the order of the names."""
    every, layers = set(names), []
    for name in names:
        for naming in namings:
            last = naming.output[0]
            prefix = name.removesuffix(last)
            whole = name.endswith(last) and (not prefix or prefix.endswith("."))
            if whole and every.issuperset(prefix + weight for weight in naming.weights):
                layers.append(Place(naming, prefix))
    return layers


def choose(layers: Sequence[Place], prefix: str | None) -> Place:
    """The layer with this prefix, or the only one. Raises InputError with a list of the layers."""
    listed = ", ".join(dict.fromkeys(place.label or "''" for place in layers))
    if prefix is None:
        if len(layers) > 1:
            raise InputError("prefix", f"one of {_cut(listed)}", "left out")
        return layers[0]
    fits = [place for place in layers if place.label == prefix.removesuffix(".")]
    if not fits:
        alone = "left out for arrays without a prefix"
        must = f"one of {_cut(listed)}" if any(place.prefix for place in layers) else alone
        raise InputError("prefix", must, prefix)
    return fits[0]


def _cut(text: str, most: int = 300) -> str:
    return text if len(text) <= most else text[:most].rsplit(", ", 1)[0] + ", …"


def _hf(*modules: str, outside: tuple[str, ...] = (), gpt: bool = False) -> Naming:
    *inputs, output = linear(*modules)
    return Naming("hf", tuple(inputs), output, outside, conv=gpt, causal=gpt)


NAMINGS = (
    Naming("torch-mha", (("in_proj_weight", "in_proj_bias"),), linear("out_proj")[0]),
    Naming(
        "torch-mha", tuple((f"{x}_proj_weight", "in_proj_bias") for x in "qkv"),
        linear("out_proj")[0], apart=True,
    ),
    _hf("q_proj", "k_proj", "v_proj", "out_proj", outside=_BUFFERS),
    _hf("q_proj", "k_proj", "v_proj", "o_proj"),
    _hf("self.query", "self.key", "self.value", "output.dense", outside=("output.LayerNorm.",)),
    _hf("attention.query", "attention.key", "attention.value", "output.dense"),
    _hf("query", "key", "value", "dense", outside=("LayerNorm.",)),
    _hf("query", "key", "value", "linear"),
    _hf("q_lin", "k_lin", "v_lin", "out_lin"),
    _hf("to_q", "to_k", "to_v", "to_out.0"),
    _hf("c_attn", "c_proj", outside=_BUFFERS, gpt=True),
    _hf("qkv", "proj"),
    *(
        Naming(
            "transformer-lens", (("W_Q", "b_Q"), (f"{x}W_K", f"{x}b_K"), (f"{x}W_V", f"{x}b_V")),
            ("W_O", "b_O"), outside=("mask", "IGNORE"), stacked=True,
        )
        for x in ("", "_")
    ),
    Naming(
        "paper", (("Wq", ""), ("Wk", ""), ("Wv", "")), ("Wo", ""), stacked=True, scale="sqrt-model"
    ),
)  # fmt: skip
