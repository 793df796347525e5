"""The format hf: attention as Hugging Face's models and their relatives name it.

| names | models |
| --- | --- |
| q_proj, k_proj, v_proj, out_proj | BART, OPT, CLIP, Whisper |
| q_proj, k_proj, v_proj, o_proj | Llama, Mistral, Gemma; grouped-query heads; rotary positions |
| qkv_proj, o_proj | Phi-3, likewise |
| self.query, self.key, self.value, output.dense | BERT, RoBERTa |
| attention.query, attention.key, attention.value, output.dense | ViT, DeiT |
| q_lin, k_lin, v_lin, out_lin | DistilBERT |
| to_q, to_k, to_v, to_out.0 | diffusers |
| c_attn, c_proj | GPT-2 (Conv1D: stored (in, out)), nanoGPT (Linear) |
| qkv, proj | timm |

All divide logits by √d_h, but for Gemma 2 and 3, which divide by √query_pre_attn_scalar of their
configuration (often d_h); Gemma 2 caps its logits besides. With fewer key and value heads than
query heads, each of the former serves as many of the latter, in order.
"""

from __future__ import annotations

from attncert.constructions.weights.naming import Naming, linear

_ROTARY = (
    "Many models with these names turn queries and keys by their positions (rotary embeddings). "
    "Such turns are not in the file and not part of this audit: it is about the layer without "
    "them, and without a cap on its logits (Gemma 2)."
)
_CAUSAL = (
    "Models with these names are causal as a rule: the file does not say so, --mask does."
)  # fmt: skip
_NORM = ("output.LayerNorm.",)


def _naming(
    *modules: str, outside: tuple[str, ...] = (), note: str = "", gpt: bool = False
) -> Naming:
    *inputs, output = linear(*modules)
    return Naming("hf", tuple(inputs), output, outside, conv=gpt, causal=gpt, note=note)


NAMINGS = (
    _naming("q_proj", "k_proj", "v_proj", "out_proj"),
    _naming("q_proj", "k_proj", "v_proj", "o_proj", outside=("rotary_emb.",), note=_ROTARY),
    _naming("qkv_proj", "o_proj", outside=("rotary_emb.",), note=_ROTARY),
    _naming("self.query", "self.key", "self.value", "output.dense", outside=_NORM),
    _naming("attention.query", "attention.key", "attention.value", "output.dense"),
    _naming("q_lin", "k_lin", "v_lin", "out_lin"),
    _naming("to_q", "to_k", "to_v", "to_out.0"),
    _naming("c_attn", "c_proj", outside=("bias", "masked_bias"), gpt=True, note=_CAUSAL),
    _naming("qkv", "proj"),
)
