"""The format torch-mha: the state dict of torch.nn.MultiheadAttention.

in_proj_weight (3d, d) holds query, key and value below one another; all projections may have a
bias; logits are divided by √d_h. Other widths of keys (kdim, vdim) and added tokens (bias_k,
bias_v, add_zero_attn) are refused: no layer of the paper's kind computes with these. (The
last leaves no trace in a state dict.)
"""

from __future__ import annotations

from attncert.constructions.weights.naming import Naming, linear

NAMINGS = (
    Naming("torch-mha", (("in_proj_weight", "in_proj_bias"),), linear("out_proj")[0]),
)  # fmt: skip
