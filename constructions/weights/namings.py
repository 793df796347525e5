"""How libraries name the projections of attention; what their layers do, the names do not say.

| names | models |
| --- | --- |
| in_proj_weight, out_proj | torch.nn.MultiheadAttention: query, key, value below one another |
| q_proj, k_proj, v_proj, out_proj | BART, OPT, CLIP, Whisper |
| q_proj, k_proj, v_proj, o_proj | ViT; Llama and others, with fewer key and value heads |
| qkv_proj, o_proj | Phi-3, likewise |
| self.query, self.key, self.value, output.dense | BERT, RoBERTa |
| attention.query, attention.key, attention.value, output.dense | YOLOS |
| query, key, value, dense | ALBERT |
| q_lin, k_lin, v_lin, out_lin | DistilBERT |
| to_q, to_k, to_v, to_out.0 | diffusers |
| c_attn, c_proj | GPT-2 (Conv1D: stored (in, out)), nanoGPT (Linear) |
| qkv, proj | timm |
| W_Q, b_Q, ... | TransformerLens: one matrix (d, d_h) for each head |
| Wq, Wk, Wv, Wo | the public code of the paper: likewise; Wo (H·d_v, m), logits divided by √d |
"""

from __future__ import annotations

from attncert.constructions.weights.naming import Naming, linear

_ROTARY = ("rotary_emb.",)  # tables of angles
_BUFFERS = ("bias", "masked_bias")  # of causal masks, in old files


def _hf(*modules: str, outside: tuple[str, ...] = (), gpt: bool = False) -> Naming:
    *inputs, output = linear(*modules)
    return Naming("hf", tuple(inputs), output, outside, conv=gpt, causal=gpt)


NAMINGS = (
    Naming("torch-mha", (("in_proj_weight", "in_proj_bias"),), linear("out_proj")[0]),
    _hf("q_proj", "k_proj", "v_proj", "out_proj", outside=_BUFFERS),
    _hf("q_proj", "k_proj", "v_proj", "o_proj", outside=_ROTARY),
    _hf("qkv_proj", "o_proj", outside=_ROTARY),
    _hf("self.query", "self.key", "self.value", "output.dense", outside=("output.LayerNorm.",)),
    _hf("attention.query", "attention.key", "attention.value", "output.dense"),
    _hf("query", "key", "value", "dense", outside=("LayerNorm.",)),
    _hf("q_lin", "k_lin", "v_lin", "out_lin"),
    _hf("to_q", "to_k", "to_v", "to_out.0"),
    _hf("c_attn", "c_proj", outside=_BUFFERS, gpt=True),
    _hf("qkv", "proj"),
    Naming(
        "transformer-lens", (("W_Q", "b_Q"), ("W_K", "b_K"), ("W_V", "b_V")), ("W_O", "b_O"),
        outside=("mask", "IGNORE"), stacked=True,
    ),
    Naming(
        "paper", (("Wq", ""), ("Wk", ""), ("Wv", "")), ("Wo", ""), stacked=True, scale="sqrt-model"
    ),
)  # fmt: skip
