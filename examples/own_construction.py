"""Parity: heads that single out one example each (ours; the proof: docs/constructions.md).

Let n be even, u a vector with E⁽ˢ⁾u = (1, 0, ..., 0) for every s, and no two queries parallel. Then
some v_t has v_t·e_t = 0 and v_t·e_s a nonzero integer for every other s. Head t is u v_tᵀ: modulo 2
the T×T matrix of all n u·z_s is the identity, so rank Z = T. Neither A1 nor A2 is asked for.
"""

from flint import fmpq_mat, fmpz_mat

from attncert import (
    Bound,
    Claim,
    Layer,
    Method,
    Outline,
    Target,
    Voice,
    each_head,
    from_layer,
    require,
)  # fmt: skip
from attncert.constructions.layer import features

HOW = {"arithmetic": "exact over ℚ (FLINT)", "source": "examples/own_construction.py"}


def mark(data):  # u (d×1) or None, from the linear system of all tokens
    tokens, one = data.token_rows.tolist(), data.contexts.denominator
    basis, k = fmpz_mat([[*x, one * (i % data.n == 0)] for i, x in enumerate(tokens)]).nullspace()
    for *u, last in basis.transpose().tolist()[:k]:
        if last != 0:
            return fmpq_mat([[x] for x in u]) / -last


def apart(data, t):  # v_t (d×1) or None: in the space v ⊥ e_t, a point of a curve
    queries = data.queries.integer_matrix()
    basis, k = fmpz_mat([queries.tolist()[t]]).nullspace()
    for x in range(1, (data.T - 1) * (data.d - 1) + 2):  # every other e_s excludes d - 1 at most
        v = basis * fmpz_mat([[x**j * (j < k)] for j in range(data.d)])
        if all((a == 0) == (s == t) for s, a in enumerate((queries * v).entries())):
            return fmpq_mat(v) * data.queries.denominator


def hypotheses(data, request=None):
    near = [t for t in range(data.T) if apart(data, t) is None]
    for name, statement, holds, witness in (
        ("even", "The number of tokens $n$ is even.", data.n % 2 == 0, {"n": data.n}),
        ("marked", "Some $u$ marks all first tokens.", mark(data) is not None, {"u": "none"}),
        ("apart", "No query is zero or parallel to another.", not near, {"examples": near}),
    ):
        yield Claim.checked(f"hypothesis.{name}", statement, holds, witness, **HOW)


def build(data, request, progress):
    require(hypotheses(data))
    layer = Layer.of_weights([(mark(data), apart(data, t)) for t in range(data.T)])
    return from_layer(layer, data, "parity", range(data.T), request.heads)


def alone(data, record, head, number):
    wrong = [s for s, a in enumerate((data.query_matrix * head.query).entries())
             if a.q != 1 or (a == 0) != (s == record.chosen)
             or (data.context(s) * head.key).entries() != [1, *[0] * (data.n - 1)]]  # fmt: skip
    said = "Every example has logits $(a,0,\\dots,0)$, and $a=0$ for one of them alone."
    how = HOW | {"numbers": {"example": record.chosen},
                 "rests_on": ("hypothesis.marked", "hypothesis.apart")}  # fmt: skip
    return Claim.checked(f"head.{number}.alone", said, not wrong, {"examples": wrong}, **how)


def parity(data, built):
    chosen = [head.chosen for head in (*built.heads, *built.spare)]
    bad = [] if sorted(chosen) == list(range(data.T)) else [("chosen", chosen)]
    for t, head in zip(chosen, built.layer.heads, strict=False):
        column = (features(head, data) * head.key * data.n).entries()
        bad += [(s, t) for s, x in enumerate(column) if x.q % 2 == 0 or x.p % 2 != (s == t)]
    said = "All $n\\,u\\cdot z_s$ are the identity modulo 2: rank $Z=T$."
    edges = ("hypothesis.even", *(f"head.{h}.alone" for h in range(1, len(chosen) + 1)))
    yield Claim.checked("parity", said, not bad, {"(example, head)": bad}, rests_on=edges, **HOW)


METHOD = Method(
    name="parity", theorem="the parity theorem", source=HOW["source"], build=build,
    hypotheses=hypotheses, steps=each_head(alone, source=HOW["source"]), follows=parity,
    outline=Outline(
        first=("alone",), hypotheses=("even", "marked", "apart", "capacity"), whole=("parity",),
        rests_on={"alone": ("hypothesis.apart",), "parity": ("hypothesis.even", "head.1.alone")}),
    bound=Bound("H", r="", places=lambda heads, r: heads), only_width=1,
    voice=Voice(title="heads that single out one example each", placed="examples, $H$"),
    attack=Target(promises=lambda data, *_: all(c.level.holds for c in hypotheses(data))),
)  # fmt: skip
