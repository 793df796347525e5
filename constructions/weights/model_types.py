"""What a model's configuration says about its attention: one table, by type of model.

Names of arrays do not determine what a layer does: GPT-J rotates queries by position, and GPT-Neo
does not divide the logits, but both name their arrays as OPT does. So every option that changes
attention is read, or must have a value at which it changes nothing, and models of other types are
not read. Logits are divided by √d_h; positions are added to the tokens, or there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attncert.constructions.errors import InputError, whole
from attncert.constructions.foreign import printable

TORCH = "torch.nn.MultiheadAttention"
HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head")
_OF_PARTS = (
    "encoder_attention_heads", "decoder_attention_heads", "decoder_num_attention_heads"
)  # fmt: skip


@dataclass(frozen=True)
class ModelType:
    """divided: the option without which logits are not divided; "no" if they never are. plain:
    further options that change attention, and the values at which they do not."""

    names: tuple[str, ...]
    divided: str = ""
    plain: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def scale(self, config: Mapping[str, Any]) -> str:
        """The scale of the logits, as `StoredLayer` names it."""
        switched = bool(self.divided) and config.get(self.divided) is False
        return "none" if self.divided == "no" or switched else "sqrt-d"


MODEL_TYPES = (
    ModelType(
        ("albert", "bert", "camembert", "data2vec-text", "electra", "ernie", "layoutlm", "roberta",
         "xlm-roberta", "xmod"),
        plain={"position_embedding_type": ("absolute",)},
    ),
    ModelType(
        ("audio-spectrogram-transformer", "bart", "biogpt", "blenderbot", "blenderbot-small",
         "clip", "clip_text_model", "clip_vision_model", "deit", "dinov2", "dinov2_with_registers",
         "distilbert", "hubert", "m2m_100", "marian", "mbart", "opt", "pegasus", "plbart",
         "siglip_vision_model", "speech_to_text", "vit", "vit_mae", "vit_msn", "wav2vec2",
         "whisper", "yolos"),
    ),
    ModelType(
        ("gpt2", "imagegpt"), "scale_attn_weights", {"scale_attn_by_inverse_layer_idx": (False,)}
    ),
    ModelType(("gpt_neo",), "no"),
    ModelType((TORCH,), plain={"add_zero_attn": (False,)}),
)  # fmt: skip
BY_NAME = {name: kind for kind in MODEL_TYPES for name in kind.names}


def number_of_heads(config: Mapping[str, Any]) -> int | None:
    """The number of heads; None if the configuration states none, or several."""
    numbers = {config[name] for name in (*HEADS, *_OF_PARTS) if whole(config.get(name))}
    return numbers.pop() if len(numbers) == 1 else None


def model_type(config: Mapping[str, Any], source: str, way_out: str) -> ModelType:
    """The type that a configuration names. way_out: how to read a layer of another type. Raises
    InputError for any other type, or if an option is not plain."""
    name = str(config.get("model_type"))
    kind = BY_NAME.get(name)
    if kind is None:
        must = "of a type of model that is listed in docs/models-and-layers.md, or read with "
        raise InputError(source, f"{must}{way_out}, which assumes plain attention", printable(name))
    for key, values in kind.plain.items():
        setting = config.get(key)
        if setting is not None and setting not in values:
            must = f"{' or '.join(map(str, values))}, for attention to be plain"
            raise InputError(f"{source}: {key}", must, printable(str(setting)))
    return kind
