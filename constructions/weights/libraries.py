"""Transformers of several libraries: what their arrays are called, and what their options mean.

A row of the table says where the parts of a model are, and which fields of `Design` its
configuration sets. Every other option that changes what is computed must be plain: set to a value
at which it changes nothing. Types that are not listed are not read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from attncert.constructions.errors import InputError, whole
from attncert.constructions.foreign import printable
from attncert.constructions.weights.model_types import BY_NAME
from attncert.constructions.weights.naming import Names, linear

LENS, TRACR = "transformer-lens", "tracr"
ACTIVATIONS = {
    "relu": "relu", "silu": "silu", "swish": "silu", "gelu": "gelu", "gelu_python": "gelu",
    "gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh",
}  # fmt: skip
_LARGE = 2.0**127  # the upper limit for numbers in a configuration
_OF_LENS = ("d_head", "attn_scale", "normalization_type", "rotary_base", "attention_dir")
NORMS = ("LN", "RMS", "LNPre", "RMSPre", None)  # Pre: without weights; None: no normalization


@dataclass(frozen=True)
class Design:
    """What a transformer computes, in terms common to all libraries. rotary: the base of the
    frequencies, for `rotated` coordinates of a head (None: all). neighbours: whether coordinates 2j
    and 2j+1 are rotated together, rather than j and j + half. alone: whether there is no
    feed-forward map."""

    heads: int
    layers: int | None = None
    activation: str | None = None
    norm: str | None = None
    width: int = 0
    epsilon: float = 0.0
    post: bool = False
    causal: bool = False
    divided: bool = True
    cap: float = 0.0
    rotary: float | None = None
    rotated: int | None = None
    neighbours: bool = False
    gated: bool = False
    alone: bool = False
    tied: bool = False


class Map(NamedTuple):
    """The arrays of an affine map. turned: whether its weight is stored (in, out)."""

    weight: str
    bias: str
    turned: bool = False


@dataclass(frozen=True)
class Library:
    """How a library names the options and the arrays of its model types. `fixed` fields of
    `Design` follow from the type, `adapted` adds options that must be computed. late: whether the
    bias of `up` is added to its product with the gate."""

    types: tuple[str, ...]
    options: Mapping[str, str]
    fixed: Mapping[str, Any]
    layer: str
    attention: str
    norms: tuple[Names, ...]
    up: Map
    down: Map
    gate: Map | None = None
    late: bool = False
    tokens: str = ""
    places: str = ""
    kinds: str = ""
    first: Names | None = None
    last: Names | None = None
    output: Map | None = None
    head_norms: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    plain: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    adapted: Callable[[Mapping[str, Any], str], Mapping[str, Any]] = lambda config, _: config

    def design(self, config: Mapping[str, Any], source: str) -> Design:
        """The design that a configuration states. Raises InputError if an option is not
        understood."""
        for key, values in self.plain.items():
            setting = config.get(key, values[0])
            for one in setting if isinstance(setting, list) else [setting]:
                if one not in values:
                    raise _unread(source, key, " or ".join(map(str, values)), one)
        words, config = dict(self.fixed), self.adapted(config, source)
        for word, key in self.options.items():
            words[word] = _given(config, key, source)
            if must := _odd(word, words[word]):
                raise _unread(source, key, must, words[word])
        written = "LM" in str(config.get("architectures"))
        return Design(**words, tied=written and config.get("tie_word_embeddings", True))


def library(config: Mapping[str, Any]) -> Library | None:
    """The row of the type that a configuration names; TransformerLens names none."""
    name = config.get("model_type", LENS if "d_head" in config else None)
    return next((x for x in LIBRARIES if name in x.types), None)


def _odd(word: str, value: Any) -> str:
    """What a field of `Design` must be, if this value is not allowed there; else ''."""
    if value is None and getattr(Design, word, 0) is None:
        return ""
    for known, of in ((ACTIVATIONS, "activation"), (NORMS, "norm")):
        if word == of:
            named = isinstance(value, str) and value in known
            return "" if named else "one of " + ", ".join(x for x in known if x)
    if word in ("epsilon", "cap", "rotary"):
        return "" if type(value) in (int, float) and abs(value) < _LARGE else "a number"
    if word in ("heads", "layers", "width", "rotated"):
        return "" if whole(value) and value > 0 else "a positive integer"
    return "" if isinstance(value, bool) else "true or false"


def _given(config: Mapping[str, Any], key: str, source: str) -> Any:
    if key not in config:
        raise InputError(f"{source}: {key}", "given", "left out")
    return config[key]


def _unread(source: str, option: str, must: str, got: Any) -> InputError:
    return InputError(f"{source}: {option}", f"{must}, to be read", printable(str(got)))


def _unscaled(config: Mapping[str, Any], source: str) -> Mapping[str, Any]:
    """The options, with the base of the rotary frequencies; these must not be scaled."""
    base = config.get("rope_theta")
    for key in ("rope_parameters", "rope_scaling"):  # the second in old files
        setting = config.get(key) or {}
        if not isinstance(setting, Mapping):
            raise _unread(source, key, "an object", setting)
        kind = setting.get("rope_type", setting.get("type", "default"))
        if kind != "default":
            raise _unread(source, key, "of type default", kind)
        base = setting.get("rope_theta", base)
    if base is None:
        raise InputError(f"{source}: rope_theta", "given", "left out")
    return {**config, "rotary": base}


def _hooked(config: Mapping[str, Any], source: str) -> Mapping[str, Any]:
    """The options of TransformerLens, with direction and rotation added as fields of `Design`."""
    width, scale, norm, base, direction = (_given(config, x, source) for x in _OF_LENS)
    if not whole(width) or width < 1 or scale not in (math.sqrt(width), -1.0):
        raise _unread(source, "attn_scale", f"the root of d_head ({width})", scale)
    if config.get("final_rms") and norm not in ("RMS", "RMSPre"):
        raise _unread(source, "final_rms", f"False with {norm}", True)
    rotary = base if config.get("positional_embedding_type") == "rotary" else None
    return {**config, "rotary": rotary, "causal": direction == "causal"}


def _map(module: str, turned: bool = False) -> Map:
    return Map(f"{module}.weight", f"{module}.bias", turned)


_NAMED = {"heads": "num_attention_heads", "layers": "num_hidden_layers", "activation": "hidden_act"}

_LLAMA = Library(
    ("llama", "mistral", "qwen2"),
    _NAMED | {"epsilon": "rms_norm_eps", "rotary": "rotary"},
    {"norm": "RMS", "causal": True, "gated": True},
    "layers.{}.", "self_attn.", linear("input_layernorm", "post_attention_layernorm"),
    _map("mlp.up_proj"), _map("mlp.down_proj"), _map("mlp.gate_proj"),
    tokens="embed_tokens.weight", last=linear("norm")[0], output=_map("lm_head"),
    outside=("rotary_emb.inv_freq",),
    plain={"sliding_window": (None,), "use_sliding_window": (False,),
           "layer_types": ("full_attention", None)},
    adapted=_unscaled,
)  # fmt: skip
LIBRARIES = (
    Library(
        ("gpt2",),
        {"heads": "n_head", "layers": "n_layer", "activation": "activation_function",
         "epsilon": "layer_norm_epsilon", "divided": "scale_attn_weights"},
        {"norm": "LN", "causal": True},
        "h.{}.", "attn.", linear("ln_1", "ln_2"), _map("mlp.c_fc", True), _map("mlp.c_proj", True),
        tokens="wte.weight", places="wpe.weight", last=linear("ln_f")[0], output=_map("lm_head"),
        outside=("attn.bias", "attn.masked_bias"),
        plain=BY_NAME["gpt2"].plain | {"add_cross_attention": (False,)},
    ),
    Library(
        ("bert",), _NAMED | {"epsilon": "layer_norm_eps"}, {"norm": "LN", "post": True},
        "encoder.layer.{}.", "attention.", linear("attention.output.LayerNorm", "output.LayerNorm"),
        _map("intermediate.dense"), _map("output.dense"),
        tokens="embeddings.word_embeddings.weight", first=linear("embeddings.LayerNorm")[0],
        places="embeddings.position_embeddings.weight",
        kinds="embeddings.token_type_embeddings.weight",
        outside=("pooler.dense.weight", "pooler.dense.bias", "position_ids", "token_type_ids"),
        plain=BY_NAME["bert"].plain | {"is_decoder": (False,), "add_cross_attention": (False,)},
    ),
    _LLAMA,
    replace(_LLAMA, types=("qwen3",), head_norms=("q_norm.weight", "k_norm.weight")),
    Library(
        (LENS,),
        {"heads": "n_heads", "layers": "n_layers", "activation": "act_fn", "epsilon": "eps",
         "norm": "normalization_type", "width": "d_model", "divided": "use_attn_scale",
         "cap": "attn_scores_soft_cap", "rotary": "rotary", "rotated": "rotary_dim",
         "neighbours": "rotary_adjacent_pairs", "alone": "attn_only", "causal": "causal",
         "gated": "gated_mlp"},
        {}, "blocks.{}.", "attn.", (("ln1.w", "ln1.b"), ("ln2.w", "ln2.b")),
        Map("mlp.W_in", "mlp.b_in", True), Map("mlp.W_out", "mlp.b_out", True),
        Map("mlp.W_gate", "mlp.b_gate", True), late=True,
        tokens="embed.W_E", places="pos_embed.W_pos", last=("ln_final.w", "ln_final.b"),
        output=Map("unembed.W_U", "unembed.b_U", True),
        outside=("attn.mask", "attn.IGNORE", "attn.rotary_sin", "attn.rotary_cos"),
        plain={"parallel_attn_mlp": (False,), "use_normalization_before_and_after": (False,),
               "scale_attn_by_inverse_layer_idx": (False,), "use_local_attn": (False,),
               "use_qk_norm": (False,), "post_embedding_ln": (False,), "num_experts": (None,),
               "output_logits_soft_cap": (-1.0, 0.0), "use_NTK_by_parts_rope": (False,),
               "positional_embedding_type": ("standard", "rotary")},
        adapted=_hooked,
    ),
    Library(
        (TRACR,),
        {"heads": "num_heads", "layers": "num_layers", "activation": "activation_function",
         "causal": "causal"},
        {}, "transformer.layer_{}.", "attn.", (), _map("mlp.linear_1"), _map("mlp.linear_2"),
        tokens="token_embed.embeddings", places="pos_embed.embeddings",
        plain={"layer_norm": (False,), "activation_function": ("relu",)},
    ),
)  # fmt: skip
