"""An induction head: two blocks of attention that continue a pattern, as a construction (ours).

A token holds its letter (one of V), its position (one of n), and space for the letter before it.
The query is the last token; the label is the letter that followed the earlier copy of the query's
letter.

Block 1, every token: the key is the position, the query is the previous position, and the value
(the letter) is added to the space. The logit is s at the predecessor and 0 elsewhere. The first
token has no predecessor and copies its own letter; hence the hypothesis "first".
Block 2, the query: the key is the space, and the query is the letter. The logit is s at the
successor of the copy and 0 elsewhere (approximately, with softmax); the value is the letter.
Block 3 rounds: an entry is 1 if its letter gets at least half of the attention.

With hardmax everything is exact. With softmax to base e, the other tokens get at most (n-1)e^(-s)
of a token's attention, and block 3 rounds the resulting balls to 0 and 1.
"""

from functools import partial
from itertools import product

from flint import arb, fmpq, fmpq_mat

from attncert import Attention, Construction, Dataset, FeedForward, Head, Hypothesis, Network, Step

V = 3  # letters


def network(n, rule, s):
    d = 2 * V + n
    letter, place, room = units(d, range(V)), units(d, range(V, V + n)), units(d, range(V + n, d))
    before = units(d, [*range(V + 1, V + n), V])
    before[V, 0], before[V, n - 1] = 1, 0  # the first token sees itself
    copy, match = Head(place, before * fmpq(s), letter), Head(room, letter * s, letter)
    unit = "1" if rule == "softmax" else None  # the unit of the logits
    return Network((
        Attention((copy,), room.transpose(), "all", rule, unit, residual=True),
        Attention((match,), units(V, range(V)), "query", rule, unit),
        FeedForward(units(V, range(V)), fmpq_mat([["-1/2"] * V]), activation="threshold"),
    ))  # fmt: skip


def units(d, places):  # d×len(places): the columns are unit vectors
    return fmpq_mat([[int(i == place) for place in places] for i in range(d)])


def words(data):  # the word that each example spells
    for t in range(data.T):
        yield t, [row.index(max(row[:V])) for row in data.context(t).tolist()]


def successor(word):  # the position after the first copy of the last letter
    return min(word.index(word[-1]) + 1, len(word) - 1)


def looks_back(at, others):  # others: the most attention that any other token gets
    for t, rows in enumerate(at.token_weights(1)):
        for i, row in enumerate(rows):
            yield 1 - row[max(i - 1, 0)], "<=", (at.data.n - 1) * others, t, i


def finds_the_successor(at):
    for t, word in words(at.data):
        yield at.weights(2)[t][successor(word)], ">", fmpq(9, 10), t


def copies(at):
    for t, (row, label) in enumerate(zip(at.query[2], at.labels, strict=True)):
        yield from ((abs(x - y), "<", fmpq(1, 10), t) for x, y in zip(row, label, strict=True))


def spells(data):
    yield data.d, "==", 2 * V + data.n
    for t, word in words(data):
        rows = encoded(word, data.d)
        yield [*data.context(t).tolist(), data.query_matrix.tolist()[t]], "==", [*rows, rows[-1]], t


def follows(data):
    for t, word in words(data):
        yield data.label_matrix.tolist()[t], "==", label(word), t


def induction(rule, s=1):  # s: the scale of the logits
    others = partial(looks_back, others=arb(-s).exp() if rule == "softmax" else 0)
    previous = "All but $(n-1)e^{-s}$ of a token's attention is on its predecessor."
    found = "The successor of the copy gets more than 9/10 of the query's attention."
    return Construction(
        name=f"induction-{rule}",
        theorem="the induction head's theorem",
        build=lambda data, request: network(data.n, rule, s),
        hypotheses={
            "tokens": Hypothesis("Tokens spell words; the query is the last token.", spells),
            "once": Hypothesis("The last letter occurs exactly once before.", lambda data: (
                (word.count(word[-1]), "==", 2, t) for t, word in words(data))),
            "first": Hypothesis("The first letter is not the last.", lambda data: (
                (word[0], "!=", word[-1], t) for t, word in words(data))),
            "labels": Hypothesis("The label follows the earlier copy of the last letter.", follows),
        },
        steps={
            "previous": Step(previous, others, ["tokens"], where=["example", "token"]),
            "successor": Step(found, finds_the_successor, ["previous", "once", "first"]),
            "copied": Step("It reads the label up to 1/10.", copies, ["successor", "labels"]),
        },
        promises={"parameters": lambda sizes: 8 * V + 2 * sizes.n, "heads": lambda sizes: 2},
        adapt=some,
    )  # fmt: skip


def encoded(word, d):  # letter and position of each token
    return [[int(j in (x, V + i)) for j in range(d)] for i, x in enumerate(word)]


def label(word):
    return [int(word[successor(word)] == j) for j in range(V)]


def spelled(words):  # the words as data
    contexts = [encoded(word, 2 * V + len(word)) for word in words]
    return Dataset.of(contexts, [rows[-1] for rows in contexts], [label(word) for word in words])


def strings(length):  # all words for which the hypotheses hold
    every = product(range(V), repeat=length)
    return spelled([w for w in every if w.count(w[-1]) == 2 and w[0] != w[-1]])


def some(data):  # at most three words, made from the numbers in the data
    queries = data.query_matrix.tolist()[:3]
    rows = [(*query, *data.context(t).entries()) * 3 for t, query in enumerate(queries)]
    return spelled([[int(x.p) % V for x in row[: data.n + 2]] for row in rows])


HARDMAX, SOFTMAX = induction("hardmax"), induction("softmax", 8)
