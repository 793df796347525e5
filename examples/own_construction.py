"""Parity: heads that single out one example each; a rank without limits or elimination (ours).

Let n be even, u a vector with E⁽ˢ⁾u = (1, 0, ..., 0) for every s, and no two queries parallel. Then
some v_t has v_t·e_t = 0 and v_t·e_s a nonzero integer for every other s. Head t is u v_tᵀ. Its
logits on s are (a, 0, ..., 0), a = v_t·e_s, and along u its feature is the first softmax weight,

    u·z_s = p = 2^a / (2^a + n-1):   1/n for s = t, and over an odd denominator for every other s

(n-1 is odd; where a < 0, p = 1 / (1 + (n-1) 2^-a)). So the T×T matrix of all n·p is the identity
modulo 2: rank Z = T with T heads of width one. Neither A1 nor A2 is asked for, nor n ≤ d. ∎
"""

from operator import mul

from flint import fmpq_mat

import attncert
from attncert import Claim
from attncert.constructions.layer import features

HOW = {"arithmetic": "exact over ℚ (FLINT)", "source": "examples/own_construction.py"}


def mark(data):  # u (d×1) or None, from the linear system of all tokens
    tokens, one = data.token_rows.tolist(), data.contexts.denominator
    table = fmpq_mat([[*x, one * (i % data.n == 0)] for i, x in enumerate(tokens)])
    rows, rank = table.rref()
    lead = {next(j for j in range(data.d + 1) if rows[i, j] != 0): i for i in range(rank)}
    u = [[rows[lead[j], data.d] if j in lead else 0] for j in range(data.d)]
    return None if data.d in lead else fmpq_mat(u)


def apart(data, t):  # v_t (d×1) or None: in the plane v ⊥ e_t, a point of a curve
    rows = data.queries.integer_matrix().tolist()
    e, pivot = rows[t], next((j for j, x in enumerate(rows[t]) if x != 0), 0)
    for x in range(1, (data.T - 1) * (data.d - 1) + 2):  # every other e_s excludes d - 1 of them
        v = [e[pivot] * x**j for j in range(data.d)]
        v[pivot] = -sum(x**j * y for j, y in enumerate(e) if j != pivot)
        if all(sum(map(mul, v, f)) != 0 for s, f in enumerate(rows) if s != t):
            return fmpq_mat([[data.queries.denominator * y] for y in v])


def hypotheses(data, settings=None):
    near = [t for t in range(data.T) if apart(data, t) is None]
    for name, holds, witness, statement in (
        ("even", data.n % 2 == 0, {"n": data.n}, "The number of tokens $n$ is even."),
        ("marked", mark(data) is not None, {"u": "none"}, "Some $u$ marks all first tokens."),
        ("apart", not near, {"examples": near}, "No query is zero or parallel to another."),
    ):
        yield Claim.checked(f"hypothesis.{name}", statement, holds, witness, **HOW)


def build(data, settings, progress):
    return attncert.from_layer(layer(data), data, "parity", range(data.T), settings.heads)


def layer(data):
    attncert.require(hypotheses(data))
    return attncert.Layer.of_weights([(mark(data), apart(data, t)) for t in range(data.T)])


def alone(data, record, head, number):
    wrong, products = [], (data.query_matrix * head.query).entries()
    for s, a in enumerate(products):
        marks = (data.context(s) * head.key).entries() == [1, *[0] * (data.n - 1)]
        if not marks or a.q != 1 or (a == 0) != (s == record.chosen):
            wrong.append(s)
    statement = "Every example has logits $(a,0,\\dots,0)$, and $a=0$ for one of them alone."
    rests_on = ("hypothesis.marked", "hypothesis.apart")
    return Claim.checked(f"head.{number}.alone", statement, not wrong, {"examples": wrong},
                         numbers={"example": record.chosen}, rests_on=rests_on, **HOW)  # fmt: skip


def parity(data, built):
    wrong, chosen = [], [head.chosen for head in (*built.heads, *built.spare)]
    for t, head in zip(chosen, built.layer.heads, strict=False):
        column = (features(head, data) * head.key * data.n).entries()
        wrong += [(s, t) for s, x in enumerate(column) if x.q % 2 == 0 or x.p % 2 != (s == t)]
    holds = sorted(chosen) == list(range(data.T)) and not wrong
    rests_on = ("hypothesis.even", *(f"head.{h}.alone" for h in range(1, len(chosen) + 1)))
    yield Claim.checked("parity", "All $n\\,u\\cdot z_s$ are the identity modulo 2: rank $Z=T$.",
                        holds, {"(example, head)": wrong}, rests_on=rests_on, **HOW)  # fmt: skip


METHOD = attncert.Method(
    name="parity",
    theorem="the parity theorem",
    source=HOW["source"],
    build=build,
    head_claims=attncert.steps(alone, source=HOW["source"]),
    follows=parity,
    hypotheses=hypotheses,
    outline=attncert.Outline(
        first=("alone",),
        hypotheses=("even", "marked", "apart", "capacity"),
        whole=("parity",),
        rests_on={"alone": ("hypothesis.apart",), "parity": ("hypothesis.even", "head.1.alone")},
    ),
    bound=attncert.Bound("H", r="", places=lambda heads, r: heads),
    only_width=1,
    voice=attncert.Voice(title="heads that single out one example each", placed="examples, $H$"),
    attack=attncert.Attack(
        build=lambda data, heads, width, option: layer(data),
        promises=lambda data, heads, width: all(c.level.holds for c in hypotheses(data)),
    ),
)
