# %% [markdown]
# # The exact weights in NumPy and in torch-style shapes
#
# `Layer.to_numpy()` gives the nearest float64 of every exact weight. How far from the labels is the
# float64 layer? Conventions:
#
# - **base**: plain softmax (base e). The exact weights count logits in units of ln 2; that factor
#   is in `W_Q`.
# - **scale**: none. A layer that divides logits by √d_h needs `W_Q` times √d_h; with
#   `torch.nn.functional.scaled_dot_product_attention` pass `scale=1.0` instead.
# - **mask**: none. Each query attends to all n tokens of its context and is not one of them.

# %%
import numpy as np

from attncert import Prove, load, prove

data = load("digits").take(25)
proof = prove(data, Prove(heads=8, head_width=4))
weights = proof.layer.to_numpy()
print(proof.standing.value, {name: array.shape for name, array in weights.items()})


# %% [markdown]
# ## Forward pass in NumPy


# %%
def softmax(logits):
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attend(E, e, W_K, W_Q, W_V, W_O):
    """E: (T, n, d), e: (T, d) -> (T, m)."""
    keys = np.einsum("tnd,hdk->thnk", E, W_K)
    queries = np.einsum("td,hdk->thk", e, W_Q)
    attention = softmax(np.einsum("thnk,thk->thn", keys, queries))
    values = np.einsum("tnd,hdv->thnv", E, W_V)
    heads = np.einsum("thn,thnv->thv", attention, values)
    return heads.reshape(len(E), -1) @ W_O


E, e, y = data.contexts.floats(), data.queries.floats(), data.labels.floats()
outputs = attend(E, e, **weights)
error = np.abs(outputs - y).max()
print(f"largest error in float64: {error:.2e} (the exact layer's is 0)")
assert error < 1e-6

# %% [markdown]
# ## Torch-style shapes
#
# `torch.nn.Linear` keeps `weight` as (out_features, in_features). Heads are stacked along the
# output axis, as multi-head attention layers do. These four arrays are what
# `torch.from_numpy` would take.

# %%
T, n, d = E.shape
H, _, d_h = weights["W_Q"].shape
d_v = weights["W_V"].shape[2]
state = {
    "q_proj.weight": weights["W_Q"].transpose(0, 2, 1).reshape(H * d_h, d) * np.sqrt(d_h),
    "k_proj.weight": weights["W_K"].transpose(0, 2, 1).reshape(H * d_h, d),
    "v_proj.weight": weights["W_V"].transpose(0, 2, 1).reshape(H * d_v, d),
    "out_proj.weight": weights["W_O"].T,
}
print({name: array.shape for name, array in state.items()})

# %%
# The same layer as such a module would run it, with its 1/√d_h scale:
q = (e @ state["q_proj.weight"].T).reshape(T, H, 1, d_h)
k = (E @ state["k_proj.weight"].T).reshape(T, n, H, d_h).transpose(0, 2, 1, 3)
v = (E @ state["v_proj.weight"].T).reshape(T, n, H, d_v).transpose(0, 2, 1, 3)
attention = softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(d_h))
again = (attention @ v).reshape(T, H * d_v) @ state["out_proj.weight"].T
print(f"difference between the two forward passes: {np.abs(again - outputs).max():.2e}")
assert np.abs(again - y).max() < 1e-6
