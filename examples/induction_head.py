"""An induction head: two blocks of attention that continue a pattern, as a construction (ours).

A token holds its letter (one of V), its place (one of n), and room for the letter before it. The
query is the last token; the label is the letter that followed the earlier copy of its letter.

Block 1, every vector: the key is the place, the query the place before the own one, the value the
letter, which is added into the room. The logit is s at the predecessor and 0 elsewhere. The first
token has none and copies itself: a copy that is not there, hence the hypothesis "first".
Block 2, the query: the key is the room, the query the own letter. The logit is s (with softmax
nearly) at the successor of the copy, and nearly 0 elsewhere; the value is the letter.
Block 3 rounds: a letter is 1 if it has half of the attention.

With hardmax everything is exact. With softmax of base e the others have at most (n-1)e^(-s) of a
token's attention, and thresholds make the balls behind them the numbers 0 and 1.
"""

from functools import partial
from itertools import product

from flint import arb, fmpq, fmpq_mat

from attncert import Attention, Construction, Dataset, FeedForward, Head, Hypothesis, Network, Step


def units(width, *places):  # width×len(places): the columns are unit vectors
    return fmpq_mat([[int(i == place) for place in places] for i in range(width)])


def build(data, request, rule, scale):
    V, n, d = data.m, data.n, data.d
    letter, room, one = units(d, *range(V)), units(d, *range(V + n, d)), units(V, *range(V))
    place, before = units(d, *range(V, V + n)), units(d, *range(V + 1, V + n), V)
    before[V, 0], before[V, n - 1] = 1, 0  # the first token sees itself
    previous, match = Head(place, before * fmpq(scale), letter), Head(room, letter * scale, letter)
    unit = "1" if rule == "softmax" else None
    return Network((
        Attention((previous,), room.transpose(), "all", rule, unit, residual=True),
        Attention((match,), one, "query", rule, unit),
        FeedForward(one, fmpq_mat([["-1/2"] * V]), activation="threshold"),
    ))  # fmt: skip


def words(data):  # of each example the letters, and the place after the copy of the last one
    for t in range(data.T):
        rows = [row[: data.m] for row in data.context(t).tolist()]
        word = [row.index(max(row)) for row in rows]
        yield t, word, min(word.index(word[-1]) + 1, len(word) - 1)


def encoded(word, V):
    return [[int(j in (x, V + i)) for j in range(2 * V + len(word))] for i, x in enumerate(word)]


def tokens(data):
    for t, word, _ in words(data):
        yield data.d, "==", 2 * data.m + len(word), t
        if data.d == 2 * data.m + len(word):
            yield data.context(t).tolist(), "==", encoded(word, data.m), t
        yield data.query_matrix.tolist()[t], "==", data.context(t).tolist()[-1], t


def follows(data):
    for t, word, after in words(data):
        yield data.label_matrix.tolist()[t], "==", [int(word[after] == j) for j in range(data.m)], t


def looks_back(at, scale):
    rest = (at.data.n - 1) * arb(-scale).exp() if scale > 1 else 0
    for t, rows in enumerate(at.token_weights(1)):
        yield [1 - row[max(i - 1, 0)] for i, row in enumerate(rows)], "<=", rest, t


def spelled(words, V=3):
    """The strings as data, each with its label."""
    contexts = [encoded(word, V) for word in words]
    after = [word[min(word.index(word[-1]) + 1, len(word) - 1)] for word in words]
    labels = [[int(x == j) for j in range(V)] for x in after]
    return Dataset.of(contexts, [context[-1] for context in contexts], labels, "strings")


def some(data):
    """Three words or fewer, of two letters more than tokens, spelled by the numbers of the data."""
    queries = data.query_matrix.tolist()[:3]
    rows = [(*query, *data.context(t).entries()) * 3 for t, query in enumerate(queries)]
    return spelled([[int(x.p) % 3 for x in row[: data.n + 2]] for row in rows])


once = Hypothesis(
    "The last letter stands once before.",
    lambda data: ((word.count(word[-1]), "==", 2, t) for t, word, _ in words(data)),
)
first = Hypothesis(
    "The first letter is not the last.",
    lambda data: ((word[0], "!=", word[-1], t) for t, word, _ in words(data)),
)
successor = Step(
    "The successor of the copy gets more than 9/10.",
    lambda at: ((at.weights(2)[t][after], ">", fmpq(9, 10), t) for t, _, after in words(at.data)),
    rests_on=("previous", "once", "first"),
    where=("example",),
)
copied = Step("What is attended to is within 1/10 of the label.", lambda at: (
    (abs(x - at.labels[t][j]), "<", fmpq(1, 10), t)
    for t, row in enumerate(at.query[2]) for j, x in enumerate(row)),
    rests_on=("successor", "labels"), where=("example",))  # fmt: skip


def induction(rule, scale=1):  # s of a softmax; the logits of hardmax are 0 and 1
    return Construction(
        name=f"induction-{rule}",
        title=f"an induction head with {rule}",
        theorem="the induction head's theorem",
        source="examples/induction_head.py",
        build=partial(build, rule=rule, scale=scale),
        hypotheses={
            "tokens": Hypothesis("A token is a letter, a place, and room.", tokens, ("example",)),
            "once": once,
            "first": first,
            "labels": Hypothesis("The label follows the earlier copy.", follows, ("example",)),
        },
        steps={
            "previous": Step(
                "All but $(n-1)e^{-s}$ of a token's attention is on its predecessor.",
                partial(looks_back, scale=scale),
                rests_on=("tokens",),
                where=("example", "token"),
            ),
            "successor": successor,
            "copied": copied,
        },
        promises={"parameters": lambda sizes: 8 * sizes.m + 2 * sizes.n, "heads": lambda _: 2},
        options=(),
        adapt=some,
    )


HARDMAX, SOFTMAX = induction("hardmax"), induction("softmax", 8)


def strings(length, V=3):
    """All strings of V letters on which the hypotheses hold."""
    every = product(range(V), repeat=length)
    return spelled([w for w in every if w.count(w[-1]) == 2 and w[0] != w[-1]])
