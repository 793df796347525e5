"""What a model's configuration says of its attention: one table, by type of model.

Names of arrays do not determine what a layer does: GPT-J turns queries by position, GPT-Neo does
not divide, Granite multiplies, and their arrays are named as OPT's are. So a layer is read as its
type says where that type is listed here. Every option that changes attention is read, or must have
the value at which it changes nothing. Models of other types are not read.

The listed types compute softmax attention with logits divided by √d_h; positions are added to the
tokens before the first layer, or not at all. tests/constructions/test_model_types.py holds each
against the library: outputs, and that no option of its source is left out here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attncert.constructions.errors import InputError, whole
from attncert.constructions.foreign import printable

TORCH = "torch.nn.MultiheadAttention"


@dataclass(frozen=True)
class ModelType:
    """names: as `model_type` in config.json has them. heads: options that hold the number of heads
    (dots: within others). divided: the option without which logits are not divided; "no": they
    never are. plain: further options that change attention, and the values at which they do not.
    """

    names: tuple[str, ...]
    heads: tuple[str, ...] = ("num_attention_heads",)
    divided: str = ""
    plain: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def number_of_heads(self, config: Mapping[str, Any]) -> int | None:
        """None where the configuration does not say, or names several numbers."""
        stated = (option(config, name) for name in self.heads)
        numbers = {number for number in stated if whole(number)}
        return numbers.pop() if len(numbers) == 1 else None

    def scale(self, config: Mapping[str, Any]) -> str:
        """Of the logits, as `StoredLayer` has it."""
        switched = bool(self.divided) and option(config, self.divided) is False
        return "none" if self.divided == "no" or switched else "sqrt-d"


_TWO = ("encoder_attention_heads", "decoder_attention_heads")
_GPT = {"scale_attn_by_inverse_layer_idx": (False,)}
_ABSOLUTE = {"position_embedding_type": ("absolute",)}

MODEL_TYPES = (
    ModelType(
        ("bert", "camembert", "data2vec-text", "electra", "ernie", "layoutlm", "roberta",
         "xlm-roberta", "xmod"),
        plain=_ABSOLUTE,
    ),
    ModelType(("albert",), plain=_ABSOLUTE),
    ModelType(("distilbert",), ("n_heads",)),
    ModelType(
        ("audio-spectrogram-transformer", "clip_text_model", "clip_vision_model", "deit", "dinov2",
         "dinov2_with_registers", "hubert", "siglip_vision_model", "vit",
         "vit_msn", "wav2vec2", "yolos"),
    ),
    ModelType(("vit_mae",), ("num_attention_heads", "decoder_num_attention_heads")),
    ModelType(
        ("clip",), ("text_config.num_attention_heads", "vision_config.num_attention_heads")
    ),
    ModelType(
        ("bart", "blenderbot", "blenderbot-small", "m2m_100", "marian", "mbart", "pegasus",
         "plbart", "speech_to_text", "whisper"),
        _TWO,
    ),
    ModelType(("gpt2", "imagegpt"), ("n_head",), "scale_attn_weights", _GPT),
    # where multi_query is False, q, k and v of a head lie side by side: these are not read
    ModelType(("gpt_bigcode",), ("n_head",), "scale_attn_weights", {"multi_query": (True,)}),
    ModelType(("gpt_neo",), ("num_heads",), "no"),
    ModelType(("biogpt", "opt")),
    ModelType((TORCH,), ("num_heads",), plain={"add_zero_attn": (False,)}),
)  # fmt: skip
BY_NAME = {name: kind for kind in MODEL_TYPES for name in kind.names}


def option(config: Mapping[str, Any], name: str) -> Any:
    """What a configuration says; None: nothing. Dots lead into configurations within."""
    first, _, rest = name.partition(".")
    inner = config.get(first)
    if not rest:
        return inner
    return option(inner, rest) if isinstance(inner, Mapping) else None


def model_type(config: Mapping[str, Any], source: str, way_out: str) -> ModelType:
    """The type that a configuration names. way_out: how to say what a layer does that is of no
    listed type. Raises InputError for another type, or where an option is not plain."""
    name = str(config.get("model_type"))
    kind = BY_NAME.get(name)
    if kind is None:
        must = "of a type of model that is listed in docs/models-and-layers.md, or read with "
        raise InputError(source, f"{must}{way_out}, which assumes plain attention", printable(name))
    for key, values in kind.plain.items():
        setting = option(config, key)
        if setting is not None and setting not in values:
            must = f"{' or '.join(map(str, values))}, for attention to be plain"
            raise InputError(f"{source}: {key}", must, printable(str(setting)))
    return kind
