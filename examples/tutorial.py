# %% [markdown]
# # The proof in eleven steps
#
# Theorem 1 of *Memorization Capacity of Multi-Head Attention in Transformers* (Mahdavi, Liao,
# Thrampoulidis, ICLR 2024) says that one attention layer with $H$ heads memorizes $H(r-1)+1$
# examples exactly. This notebook walks through its proof on the smallest data that show every
# step: `tiny.json`, three examples in the plane and two heads. The second head shows all that a
# later head does; with more heads, steps 2 to 8 are repeated. Each step is one cell: a number or a
# picture.
#
# **What attention does.** A *context* is a list of *tokens*, here the two rows of $E$. A *query*
# $e$ is a vector that asks about the context. A head computes a *key* from each token; the
# product of key and query is a number for each token, its *logit*. Softmax turns the logits into
# weights that are positive and add up to 1: the larger the logit, the more attention its token
# gets. The average of the tokens with these weights is the head's *feature* $z$. To *memorize* is
# to output a given label $y$ for every example.
#
# Logits here are in units of $\ln2$. Softmax of whole numbers $k_i$ then gives the weights
# $2^{k_i}/\sum_j2^{k_j}$, which are fractions. So everything below is exact.

# %%
from fractions import Fraction
from io import StringIO

import numpy as np
from flint import fmpq, fmpq_mat
from IPython.display import SVG, display
from matplotlib.figure import Figure

from attncert import Prove, load, prove
from attncert.constructions.layer import features
from attncert.constructions.paper import theorem

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"

data = load("tiny.json")
T, n, d = data.T, data.n, data.d
E = data.context(0)  # one context for all examples: its rows are the tokens (1, 0) and (0, 1)
e = [data.query_matrix.transpose() * fmpq_mat([[int(s == t)] for s in range(T)]) for t in range(T)]
y = data.labels.matrix()

for t in range(T):
    print(f"example {t}: query {tuple(map(int, e[t].entries()))}, label {y[t, 0]}")


# %% [markdown]
# Two small helpers draw vectors in the plane and show a figure.


# %%
def arrows(axes, **vectors):
    """Arrows from the origin, each with its name."""
    for (name, vector), colour in zip(
        vectors.items(), (BLUE, ORANGE, GREEN, "black"), strict=False
    ):
        x, y = (float(a.p) / float(a.q) for a in vector.entries())
        axes.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": colour})
        axes.annotate(name, (x, y), color=colour, xytext=(4, 2), textcoords="offset points")
    axes.set(xlim=(-2.3, 3.7), ylim=(-1, 2.5), aspect="equal")
    axes.axhline(0, color="#cccccc", linewidth=0.5)
    axes.axvline(0, color="#cccccc", linewidth=0.5)


def picture(draw, title):
    figure, drawing = Figure(figsize=(4.5, 3), layout="constrained"), StringIO()
    draw(figure.add_subplot(title=title))
    figure.savefig(drawing, format="svg", metadata={"Date": None})
    display(SVG(drawing.getvalue()))


picture(lambda axes: arrows(axes, e0=e[0], e1=e[1], e2=e[2]), "The three queries")

# %% [markdown]
# ## Step 1: the labels do not matter
#
# Write the features of an example, head by head, as one row of a matrix $Z$ ($T$ rows, $Hd$
# columns). The rest of the layer is linear: its outputs are $ZV$ for a matrix $V$ that we may
# choose. If the rows of $Z$ are independent, $ZV=Y$ can be solved for *every* $Y$. So the whole
# proof comes down to keys and queries with $\operatorname{rank}Z=T$. Without this step, we would
# have to look for weights anew for each set of labels.
#
# Here is the $Z$ that steps 2 to 8 will build.

# %%
built = theorem.build(data, head_width=2)
H, r = len(built.layer.heads), built.r
Z = fmpq_mat(T, H * d)
for h, head in enumerate(built.layer.heads):
    z = features(head, data)
    for t in range(T):
        for j in range(d):
            Z[t, h * d + j] = z[t, j]
print(Z)
print("rank", Z.rank(), "of", T)

# %% [markdown]
# ## Step 2: a head for the first group
#
# The first head takes $r=2$ examples, 0 and 1, and gives each of them the logits that we want.
# Two kinds of vectors do this. The *dual* vectors $\hat e_0,\hat e_1$ satisfy $\hat e_t\cdot
# e_t=1$ and $\hat e_t\cdot e_s=0$ for the other example: they tell the two queries apart. The
# *steering* vectors $w_t$ solve $Ew_t=g_t$, where $g_t$ are the logits that we want. The head
# $\sum_tw_t\hat e_t^\top$ then has logits $g_0$ on example 0 and $g_1$ on example 1. Dependent
# queries have no duals: here Assumption 1 is used (any $r$ queries are independent). Dependent
# tokens do not allow every $g_t$: here Assumption 2 is used (each context has rank $n$).

# %%
first, second = built.heads
dual_0, dual_1 = first.duals
for t, (dual, w, g) in enumerate(zip(first.duals, first.steering, first.logits, strict=True)):
    products = [(dual.transpose() * e[s])[0, 0] for s in first.group]
    print(f"ê{t}·e = {products},  E w{t} = {(E * w).entries()} = wanted logits {g}")
picture(
    lambda axes: arrows(axes, e0=e[0], e1=e[1], ê0=dual_0, ê1=dual_1),
    "Each dual is orthogonal to the other query",
)

# %% [markdown]
# ## Step 3: the selector
#
# The second head serves only example 2. It must not disturb examples 0 and 1, so it needs a way
# to tell "mine" from "earlier". The *selector* $v$ is orthogonal to the query of its own group,
# $v\cdot e_2=0$, and to no earlier query. If an earlier query were a multiple of $e_2$, no such $v$
# would exist.

# %%
v = second.selector
print("v·e =", [(v.transpose() * e[t])[0, 0] for t in range(T)])
picture(
    lambda axes: arrows(axes, e0=e[0], e1=e[1], e2=e[2], v=v),
    "v is orthogonal to e2, not to e0, e1",
)

# %% [markdown]
# ## Step 4: the separator
#
# The *separator* $u$ gives the tokens of each earlier context different values $Eu$, so that one
# token is the largest and one the smallest. With a tie at the top, an earlier example could not
# be sent to a single token.

# %%
u = second.separator
print("Eu =", (E * u).entries())

# %% [markdown]
# ## Step 5: the second head
#
# Put the parts together: $M=c\,uv^\top+\sum_tw_t\hat e_t^\top$, with a number $c$ still to
# choose. The logits of a query $e$ are $EMe$. For example 2, the first term is zero, because
# $v\cdot e_2=0$: its logits do not change with $c$. For examples 0 and 1, they grow with $c$.


# %%
def second_head(c):
    M = u * v.transpose() * fmpq(c)
    for w, dual in zip(second.steering, second.duals, strict=True):
        M += w * dual.transpose()
    return M


head = built.layer.heads[1]
assert second_head(second.c) == head.key * head.query.transpose()
for c in (0, 1, 5):
    logits = [[int(x.p) for x in (E * second_head(c) * e[t]).entries()] for t in range(T)]
    print(f"c = {c}: logits", logits)

# %% [markdown]
# ## Step 6: saturation
#
# As $c$ grows, examples 0 and 1 put all their attention on one token each: softmax *saturates*.
# Their features become constant, whatever else the head does. Example 2 keeps its weights.
# Without saturation, the second head would mix the earlier examples in ways that the proof cannot
# control.


# %%
def softmax(logits):
    powers = [fmpq(2) ** int(x.p) for x in logits]
    return [power / sum(powers) for power in powers]


def off_peak(t, c):
    """Share of attention outside the largest weight."""
    return 1 - max(softmax((E * second_head(c) * e[t]).entries()))


def draw(axes):
    for t, colour in zip(range(T), (BLUE, ORANGE, GREEN), strict=True):
        shares = [float(x.p) / float(x.q) for x in (off_peak(t, c) for c in range(9))]
        axes.semilogy(range(9), shares, "o-", color=colour, label=f"example {t}", base=2)
    axes.set(xlabel="c", ylabel="attention off the largest weight")
    axes.legend()


print("c = 8:", [off_peak(t, 8) for t in range(T)])
picture(draw, "Head 2 saturates on examples 0 and 1")

# %% [markdown]
# ## Step 7: independence in the limit
#
# Let $c\to\infty$. Now the features of examples 0 and 1 in head 2 are one token each. Where should
# example 2 look? If head 2 puts weight $p$ on the first token there, the feature is $(p,1-p)$, and
# the determinant below says whether the three rows are independent. It is zero for a single $p$:
# the forbidden point. In general, the forbidden points never contain $n$ independent points, so a
# good choice always exists. The construction takes $p=1/2$. At the forbidden point, the rank would
# stay at 2.

# %%
z1 = features(built.layer.heads[0], data)  # head 1, 3×2
(pivot,) = second.pivots  # the column of head 2 that brings the new direction
limit = [E[row, pivot] for row in second.targets]


def determinant(p):
    new = E[0, pivot] * p + E[1, pivot] * (1 - p)
    return fmpq_mat([[z1[t, 0], z1[t, 1], x] for t, x in enumerate([*limit, new])]).det()


at_0, at_1 = determinant(fmpq(0)), determinant(fmpq(1))
forbidden = at_0 / (at_0 - at_1)


def draw(axes):
    ends = [float(x.p) / float(x.q) for x in (at_0, at_1)]
    axes.plot([0, 1], ends, color=BLUE)
    axes.axhline(0, color="#999999", linewidth=0.5)
    middle = determinant(fmpq(1, 2))
    axes.plot(0.5, float(middle.p) / float(middle.q), "o", color=GREEN, label="chosen")
    axes.plot(float(forbidden.p) / float(forbidden.q), 0, "x", color=ORANGE, label="forbidden")
    axes.set(xlabel="p, weight of example 2 on the first token", ylabel="determinant")
    axes.legend()


print("forbidden: p =", forbidden, "  determinant at p = 1/2:", determinant(fmpq(1, 2)))
picture(draw, "Where example 2 may look")

# %% [markdown]
# ## Step 8: a finite c
#
# A layer has finite weights, so $c$ must be a number. The rank is full in the limit, and hence
# for every $c$ that is large enough. How large? We try $c=0,1,2,\dots$ and compute the rank
# exactly. At $c=0$, head 2 treats all examples alike and adds nothing; $c=1$ is already enough.

# %%
for c in range(4):
    rows = []
    for t in range(T):
        weights = softmax((E * second_head(c) * e[t]).entries())
        z2 = [sum(weights[i] * E[i, j] for i in range(n)) for j in range(d)]
        rows.append([z1[t, 0], z1[t, 1], *z2])
    print(f"c = {c}: rank Z =", fmpq_mat(rows).rank())
print("chosen: c =", second.c)

# %% [markdown]
# ## Step 9: the readout
#
# Step 1 promised a $V$ with $ZV=Y$. This is a linear system over the rational numbers, solved
# without rounding. `prove` runs all steps and stores $V$ in the heads' value matrices; the output
# matrix just adds up the heads.

# %%
proof = prove(data, Prove(heads=2))
V = fmpq_mat([[x] for head in proof.layer.heads for x in head.value.entries()])
print("V =", [str(x) for x in V.entries()])
print("ZV - Y =", [str(x) for x in (Z * V - y).entries()])

# %% [markdown]
# ## Step 10: interpolation
#
# Now run the whole layer from its weights, once with fractions and once in floating point. With
# fractions the outputs *equal* the labels. Floating point rounds, so it could only show that they
# are close. This is why attncert computes exactly.

# %%
outputs = [Fraction(0)] * T
for head in proof.layer.heads:
    M = head.key * head.query.transpose()
    for t in range(T):
        weights = softmax((E * M * e[t]).entries())
        out = sum(w * (E * head.value)[i, 0] for i, w in enumerate(weights))
        outputs[t] += Fraction(int(out.p), int(out.q))
print("exact outputs:", [str(x) for x in outputs])

W = proof.layer.to_numpy()
tokens, queries = data.contexts.floats()[0], data.queries.floats()
scores = np.einsum("nd,hdk,hfk,tf->htn", tokens, W["W_K"], W["W_Q"], queries)
attention = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
floats = np.einsum("htn,nd,hdv,vm->tm", attention, tokens, W["W_V"], W["W_O"][:1])
print("float64: close to the labels:", np.allclose(floats, data.labels.floats(), atol=1e-9))

# %% [markdown]
# ## Step 11: the count
#
# How many examples did the heads take, and how many numbers does the layer have? A head of width
# $r$ has room for $r$ vectors. The first head uses all of them for its group; every later head
# spends one on the selector and separator, and takes $r-1$ examples.

# %%
d_h, d_v, m = 2, 1, 1
print("examples:", T, "= H(r-1)+1 =", H * (r - 1) + 1)
print("parameters: H(2d·d_h + d·d_v + d_v·m) =", H * (2 * d * d_h + d * d_v + d_v * m))

# %% [markdown]
# ## What attncert makes of it
#
# Each step is a *claim* with a level. *Proved* means exact arithmetic; *kernel* is a theorem
# proved in Coq (step 1, which makes it hold for all labels); *numerical* is a floating-point check
# that nothing rests on. `attncert prove examples/tiny.json --heads 2` writes the same as a
# report.

# %%
for claim in proof.trace:
    print(f"{claim.level.value:10} {claim.id}")
print("the answer:", proof.standing.value)

# %% [markdown]
# ## In a notebook
#
# A proof shows its verdict, and `proof.trace` its graph: solid edges are what
# the certificate rests on. `proof.write(folder)` writes the report with its figures. `to_numpy`
# gives the weights as floats, `to_sympy` exactly. Progress bars appear below a slow cell with
# `with Stages() as progress: prove(data, settings, progress)`.

# %%
display(proof)
display(proof.trace)
print(proof.layer.to_sympy()["W_Q"][0])
