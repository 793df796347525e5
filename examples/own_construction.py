"""Parity: heads that single out one example each (ours; the proof: docs/constructions.md).

Let n be even, u a vector with E⁽ˢ⁾u = (1, 0, ..., 0) for every s, and no two queries parallel. Then
some v_t has v_t·e_t = 0 and v_t·e_s a nonzero integer for every other s. Head t is u v_tᵀ: modulo 2
the T×T matrix of all n u·z_s is the identity, so rank Z = T. Neither A1 nor A2 is needed.
"""

from itertools import combinations

from flint import fmpq_mat, fmpz_mat

from attncert import Construction, Hypothesis, Layer, Step


def mark(data):  # u (d×1) or None, from a linear system over all tokens
    tokens, one = data.token_rows.tolist(), data.contexts.denominator
    basis, k = fmpz_mat([[*x, one * (i % data.n == 0)] for i, x in enumerate(tokens)]).nullspace()
    for *u, last in basis.transpose().tolist()[:k]:
        if last != 0:
            return fmpq_mat([[x] for x in u]) / -last


def apart(data, t):  # v_t (d×1): a point on a curve in the space v ⊥ e_t
    queries = data.queries.integer_matrix()
    basis, k = fmpz_mat([queries.tolist()[t]]).nullspace()
    for x in range(1, (data.T - 1) * (data.d - 1) + 2):  # each other e_s excludes < d of them
        v = basis * fmpz_mat([[x**j * (j < k)] for j in range(data.d)])
        if all((a == 0) == (s == t) for s, a in enumerate((queries * v).entries())):
            return fmpq_mat(v) * data.queries.denominator


def build(data, request):
    return Layer.of_weights([(mark(data), apart(data, t)) for t in range(data.T)])


def no_two_parallel(data):
    queries = data.queries.integer_matrix().tolist()
    for t, e in enumerate(queries):
        yield [any(e)], "==", True, t
    for s, t in combinations(range(data.T), 2):
        yield fmpz_mat([queries[s], queries[t]]).rank(), "==", 2, s, t


def alone(at, h):
    for s, (first, *others) in enumerate(at.logits(head=h)):
        yield others, "==", 0, s
        yield first == 0, "==", s == h - 1, s


def parity(at):
    for h in range(1, at.data.T + 1):
        for s, weights in enumerate(at.weights(head=h)):
            share = at.data.n * weights[0]
            yield [share.q % 2, share.p % 2], "==", [1, int(s == h - 1)], s, h


HYPOTHESES = {
    "even": Hypothesis("The number of tokens $n$ is even.", lambda data: [(data.n % 2, "==", 0)]),
    "marked": Hypothesis("Some $u$ marks all first tokens.", lambda data: [
        (mark(data) is not None, "==", True)]),
    "apart": Hypothesis("No query is zero or parallel to another.", no_two_parallel),
}  # fmt: skip
STEPS = {
    "alone": Step(
        "Every example has logits $(a,0,\\dots,0)$, and $a=0$ for exactly one of them.",
        alone, rests_on=("marked", "apart"), each="head", where=("example",)),
    "parity": Step(
        "All $n\\,u\\cdot z_s$ are the identity modulo 2: rank $Z=T$.",
        parity, rests_on=("even", "alone"), where=("example", "head")),
}  # fmt: skip
PARITY = Construction(
    name="parity",
    title="heads that single out one example each",
    theorem="the parity theorem",
    source="examples/own_construction.py",
    build=build,
    hypotheses=HYPOTHESES,
    steps=STEPS,
    promises={"examples": lambda sizes: sizes.H},
)
