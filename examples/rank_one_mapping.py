"""The rank-one contextual mapping of Kajitsuka and Sato, audited as a construction.

Tokio Kajitsuka, Issei Sato: Are Transformers with One Layer Self-Attention Using Low-Rank Weight
Matrices Universal Approximators? arXiv:2307.14023v3, 2024.

*What could be read* when this was written: the abstract, and the beginning of the introduction.
They say that one layer with one head, softmax and low-rank weights captures the context of a
whole sequence, and that the proof goes through the Boltzmann operator. *Our reconstruction* is
everything below: statement, constants and steps. We recalled the constants of the paper's theorem
and did not have its text beside us; our check on them is that they follow from the steps. A defect
found here counts as one in the reconstruction until it is compared with the paper.

**Theorem.** Consider sequences of n ≥ 2 tokens in ℝᵈ, without repetitions. Let V be the set of all
tokens, r_min ≤ ‖x‖ ≤ r_max on V, and ‖x - x'‖ ≥ ε for x ≠ x' in V. Some layer
x + κ v Σ_j p_j v·x_j, p = softmax_j(c (v·x)(v·x_j)), maps two tokens to points more than δ > 0
apart if they differ, or if they are the same token in sequences that differ as sets.

1. Some unit v has |v·(x - x')| ≥ ‖x - x'‖ √(8/πd) / (|V|+1)² on V ∪ {0}. Here v is found by a
search, and its separation is measured: a = min |v·x|, g = min |v·(x - x')|, b = max |v·x|.
2. c a g ≥ 2 ln n + 3, so the logits of any token are at least that far apart. By step 1 the
   scale c = (2 ln n + 3)(|V|+1)⁴ πd / (8 ε r_min) is enough for unit v: this is the paper's
   formula, quoted from memory.
3. boltz(l) = Σ l_j softmax(l)_j separates sets of logits this far apart: for two that differ,
   |boltz(l) - boltz(l')| > (ln n)² e^(-2r), r = max |l| ≤ c b². The head's feature times c v·x is
   boltz: a token in two such sequences gets features more than (ln n)² e^(-2r) / (c b) apart.
4. κ ‖v‖ b ≤ ε/4: the token moves by less than ε/4, and different tokens stay ε/2 apart. We take
   κ = g / (4 ‖v‖² b), which satisfies this, and keeps the tokens apart along v.

*Added by us*: thresholds between the projections v·x of the queries, and a readout, so that the
outputs are the labels. Labels are real: the next letter of a text (examples/rank-one-text.json).

    attncert prove examples/rank-one-text.json --construction examples.rank_one_mapping:MAPPING
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, pairwise, product
from math import ceil, log

from flint import arb, ctx, fmpq, fmpq_mat

from attncert import (
    Attention,
    Construction,
    Dataset,
    FeedForward,
    Head,
    Hypothesis,
    HypothesisFails,
    Network,
    Step,
    readout,
)

BITS = 2048  # precision of the search for thresholds


def dot(x, y):
    return sum((a * b for a, b in zip(x, y, strict=True)), 0 * x[0])


def vocabulary(data):
    rows = {str(x): x for t in range(data.T) for x in data.context(t).tolist()}
    return list(rows.values())


def contexts(data):
    return [data.context(t).tolist() for t in range(data.T)]


def far(n):  # how far apart logits must be
    return 2 * arb(n).log() + 3


@dataclass(frozen=True)
class Projection:
    """The vector v, and how far it separates the tokens."""

    v: list
    tokens: list

    @cached_property
    def at(self):
        return sorted(dot(x, self.v) for x in self.tokens)

    @property
    def a(self):
        return min(map(abs, self.at))

    @property
    def b(self):
        return max(map(abs, self.at))

    @property
    def g(self):
        gaps = [y - x for x, y in pairwise(self.at)]
        return min(gaps, default=self.b)

    @property
    def square(self):
        return dot(self.v, self.v)


def searched(tokens, limit=20_000):
    """The small integer vector v with the smallest logit scale, b²/(a g); None if no v separates
    the tokens."""
    digits = range(9, -10, -1) if len(tokens[0]) <= 3 else (1, 0, -1)
    some = islice(product(digits, repeat=len(tokens[0])), limit)
    halves = (v for v in some if v > tuple(-x for x in v))  # v and -v are equally good
    ones = (Projection([fmpq(x) for x in v], tokens) for v in halves)
    apart = (one for one in ones if one.a and one.g)
    return min(apart, key=lambda one: one.b**2 / (one.a * one.g), default=None)


@dataclass(frozen=True)
class Mapping:
    network: Network
    projection: Projection
    c: fmpq
    kappa: fmpq


def mapping(data, c=None):
    """The attention block; c: the scale, by default the smallest that step 2 allows."""
    tokens = vocabulary(data)
    one = searched(tokens)
    if one is None:
        raise HypothesisFails("separated", "no small v separates the tokens", {}, decided=False)
    c = c or fmpq(ceil(1000 * (2 * log(data.n) + 3) + 1), 1000) / (one.a * one.g)
    kappa = one.g / (4 * one.square * one.b)
    v = fmpq_mat([[x] for x in one.v])
    head = Head(v, v * c, v)
    block = Attention((head,), v.transpose() * kappa, "all", "softmax", "1", residual=True)
    return Mapping(Network((block,)), one, c, kappa)


def between(x, y):
    """A short rational number between two balls, x < y."""
    bits = 1
    while bits < BITS:
        z = fmpq(((x + y) / 2 * 2**bits).mid().floor().unique_fmpz(), 2**bits)
        if x < z < y:
            return z
        bits *= 2
    raise HypothesisFails("apart", "two queries are not told apart", {}, decided=False)


def build(data, request, scale=None):
    made = mapping(data, scale)
    with ctx.workprec(BITS):
        rows = made.network.enclosures(data, BITS).tolist()
        sums = [dot(row, list(map(arb, made.projection.v))) for row in rows]
        order = sorted(range(data.T), key=lambda t: sums[t].mid())
        cuts = [between(sums[s], sums[t]) for s, t in pairwise(order)]
    labels = [data.label_matrix.tolist()[t] for t in order]
    jumps = [[y - x for x, y in zip(*pair, strict=True)]
             for pair in pairwise(labels)]  # fmt: skip
    kept = [(cut, jump) for cut, jump in zip(cuts, jumps, strict=True) if any(jump)]
    kept = kept or [(fmpq(0), [fmpq(0)] * data.m)]
    v = fmpq_mat([[x] * len(kept) for x in made.projection.v])
    steps = FeedForward(v, fmpq_mat([[-cut for cut, _ in kept]]), activation="threshold")
    output = readout(fmpq_mat([jump for _, jump in kept]), fmpq_mat([labels[0]]))
    return Mapping(
        Network((*made.network.blocks, steps, output)), made.projection, made.c, made.kappa
    )


# Hypotheses.


def no_token_twice(data):
    for t, rows in enumerate(contexts(data)):
        yield len({str(x) for x in rows}), "==", len(rows), t


def of_one_length(data):
    yield data.n, ">=", 2
    yield from ((data.tokens(t), "==", data.n, t) for t in range(data.T))


def query_is_a_token(data):
    queries = data.query_matrix.tolist()
    for t, rows in enumerate(contexts(data)):
        yield queries[t] in rows, "==", True, t


def none_is_zero(data):
    return [(any(x), "==", True) for x in vocabulary(data)]


def differ(data):
    """Two examples with the same query have contexts that differ as sets."""
    queries = data.query_matrix.tolist()
    sets = [{str(x) for x in rows} for rows in contexts(data)]
    for s, t in combinations(range(data.T), 2):
        yield (queries[s], sets[s]) == (queries[t], sets[t]), "==", False, s, t


# Steps.


def all_logits(at):
    """For each example and token, the logits that it sees, computed from the network's own head."""
    [head] = at.network.blocks[0].heads
    for t, rows in enumerate(at.tokens[0]):
        keys = [dot(x, column(head.key)) for x in rows]
        for i, x in enumerate(rows):
            query = dot(x, column(head.query))
            yield t, i, [query * key for key in keys]


def column(matrix):
    return [row[0] for row in matrix.tolist()]


def rank_one(at):
    [head] = at.network.blocks[0].heads
    yield (head.key * head.query.transpose()).rank(), "==", 1
    yield head.value, "==", head.key


def logits_apart(at):
    for t, i, logits in all_logits(at):
        for x, y in combinations(logits, 2):
            yield arb(abs(x - y)), ">=", far(at.data.n), t, i
    yield figures(at)


def boltzmann(at):
    """|boltz| ≤ r, and a token gets different values in two sequences that differ as sets."""
    weights, of_token = at.token_weights(1), {}
    r = max(abs(x) for _, _, logits in all_logits(at) for x in logits)
    for t, i, logits in all_logits(at):
        value = dot([arb(x) for x in logits], [arb(p) for p in weights[t][i]])
        yield abs(value), "<=", r, t
        key = str(at.tokens[0][t][i])
        of_token.setdefault(key, []).append((frozenset(map(str, logits)), value, t))
    promised, least = arb(at.data.n).log() ** 2 * (-2 * arb(r)).exp(), arb(r)
    for values in of_token.values():
        for (s, x, a), (t, y, b) in combinations(values, 2):
            if s != t:
                yield abs(x - y), ">", promised, a, b
                least = min(least, abs(x - y), key=lambda z: z.mid())
    yield {"log10 of the least difference": log10(least), "promised": log10(promised)}


def moves_little(at):
    built, least = at.built, epsilon2(at.data)
    for t, rows in enumerate(at.tokens[0]):
        for i, (x, y) in enumerate(zip(rows, at.tokens[1][t], strict=True)):
            moved = [b - a for a, b in zip(x, y, strict=True)]
            yield 16 * dot(moved, moved), "<=", least, t, i
            yield abs(dot(moved, built.projection.v)) * 4, "<=", built.projection.g, t, i


def epsilon2(data):  # ε²
    pairs = combinations(vocabulary(data), 2)
    moves = ([a - b for a, b in zip(x, y, strict=True)] for x, y in pairs)
    return min(dot(z, z) for z in moves)


def contextual(at):
    """All pairs of tokens that differ, or that occur in sequences that differ as sets."""
    built, one = at.built, at.built.projection
    delta = built.kappa * arb(one.square).sqrt() / (built.c * one.b)
    delta *= arb(at.data.n).log() ** 2 * (-2 * arb(built.c * one.b**2)).exp()
    states = [(str(x), frozenset(map(str, rows)), y, t)
              for t, rows in enumerate(at.tokens[0])
              for x, y in zip(rows, at.tokens[1][t], strict=True)]  # fmt: skip
    tokens = vocabulary(at.data)
    most = arb(max(dot(x, x) for x in tokens)).sqrt() + arb(epsilon2(at.data)).sqrt() / 4
    for _, _, y, t in states:
        yield arb(dot(y, y)), "<=", most**2, t
    for (x, s, a, k), (y, t, b, m) in combinations(states, 2):
        if (x, s) != (y, t):
            apart = [arb(p - q) for p, q in zip(a, b, strict=True)]
            yield dot(apart, apart), ">", delta**2, k, m
    yield {"log10 of the theorem's δ, for these v and c": log10(delta)}


def scale_of(data, separated=True):
    """The scale in the recalled formula, for unit v; if not `separated`, without the factor for the
    distances that v loses."""
    tokens = vocabulary(data)
    needed = far(data.n) / arb(epsilon2(data) * min(dot(x, x) for x in tokens)).sqrt()
    return needed * (len(tokens) + 1) ** 4 * arb.pi() * data.d / 8 if separated else needed


def figures(at):
    built, data = at.built, at.data
    tokens, one = vocabulary(data), built.projection
    return {
        "tokens": len(tokens),
        "the scale in the layer, for unit v": short(arb(built.c * one.square)),
        "the scale of the formula, as recalled": short(scale_of(data)),
        "largest logit in the layer": short(arb(built.c * one.b**2)),
    }


def log10(x):
    return short(x.log() / arb(10).log()) if x > 0 else "-"


def short(x):
    return float(f"{float(x.mid()):.3g}")


def sliding(data):
    """For `attack`: windows of consecutive integers, which meet all hypotheses. (Balls can decide
    equality with a label only if its denominator is a power of two, so labels become integers.)"""
    windows = [[[t + i + 1] for i in range(data.n)] for t in range(data.T)]
    labels = [[int(y.p) for y in row] for row in data.label_matrix.tolist()]
    return Dataset.of(windows, [window[0] for window in windows], labels)


def scaled(scale=None, name="rank-one-mapping"):
    return Construction(
        name=name,
        title="the rank-one contextual mapping, reconstructed",
        theorem="Kajitsuka and Sato's contextual mapping (our reconstruction)",
        source="examples/rank_one_mapping.py",
        build=lambda data, request: build(data, request, scale),
        hypotheses={
            "length": Hypothesis(
                r"All sequences have $n\ge2$ tokens.", of_one_length, ("example",)
            ),
            "once": Hypothesis(
                "No token occurs twice in a sequence.", no_token_twice, ("example",)
            ),
            "nonzero": Hypothesis(r"No token is zero: $r_{\min}>0$.", none_is_zero),
            "member": Hypothesis("The query is one of the tokens.", query_is_a_token, ("example",)),
            "apart": Hypothesis(
                "Two examples differ in the query, or in the set of tokens.",
                differ,
                ("example", "other"),
            ),
        },
        steps={
            "rank": Step("Keys and queries have rank one, and values are keys.", rank_one),
            "logits": Step(
                r"The logits of every token are $2\ln n+3$ apart.",
                logits_apart,
                rests_on=("rank", "once", "nonzero", "length"),
                where=("example", "token"),
            ),
            "boltzmann": Step(
                r"The Boltzmann operator separates sets of logits by $(\ln n)^2e^{-2r}$.",
                boltzmann,
                rests_on=("logits",),
                where=("example", "other"),
            ),
            "near": Step(
                r"No token moves by more than $\varepsilon/4$.",
                moves_little,
                rests_on=("rank",),
                where=("example", "token"),
            ),
            "contextual": Step(
                r"Tokens, and tokens of other sets, are more than $\delta$ apart.",
                contextual,
                rests_on=("boltzmann", "near"),
                where=("example", "other"),
            ),
        },
        promises={"heads": lambda sizes: 1},
        options=(),
        adapt=sliding,
    )


MAPPING = scaled()
