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

    python examples/induction_head.py [FOLDER]
"""

import sys
from functools import partial
from itertools import product

from flint import arb, fmpq, fmpq_mat

from attncert import (
    Attention,
    Construction,
    Dataset,
    FeedForward,
    Head,
    Hypothesis,
    Network,
    Prove,
    Step,
    prove,
    register,
    write_report,
)


def units(width, *places):  # width×len(places): the columns are unit vectors
    return fmpq_mat([[int(i == place) for place in places] for i in range(width)])


def build(data, request, rule="hardmax", scale=1):
    V, n, d = data.m, data.n, data.d
    letter, room = units(d, *range(V)), units(d, *range(V + n, d))
    place, before = units(d, *range(V, V + n)), units(d, *range(V + 1, V + n), V)
    before[V, 0], before[V, n - 1] = 1, 0  # the first token sees itself
    unit = "1" if rule == "softmax" else None
    previous = Head(place, before * fmpq(scale), letter)
    match = Head(room, letter * fmpq(scale), letter)
    return Network((
        Attention((previous,), room.transpose(), "all", rule, unit, residual=True),
        Attention((match,), units(V, *range(V)), "query", rule, unit),
        FeedForward(units(V, *range(V)), fmpq_mat([["-1/2"] * V]), activation="threshold"),
    ))  # fmt: skip


def letters(data, t):
    rows = [row[: data.m] for row in data.context(t).tolist()]
    return [row.index(max(row)) for row in rows]


def tokens(data):
    for t, query in enumerate(data.query_matrix.tolist()):
        word = letters(data, t)
        yield data.context(t).tolist(), "==", tokens_of(word, data.m), t
        yield query, "==", tokens_of(word, data.m)[-1], t


def copied_once(data):
    for t in range(data.T):
        *earlier, last = letters(data, t)
        yield earlier.count(last), "==", 1, t


def first_is_not_last(data):
    for t in range(data.T):
        word = letters(data, t)
        yield word[0], "!=", word[-1], t


def successor(data, t):  # its place
    word = letters(data, t)
    return word.index(word[-1]) + 1


def follows(data):
    for t, label in enumerate(data.label_matrix.tolist()):
        letter = letters(data, t)[successor(data, t)]
        yield label, "==", [int(letter == j) for j in range(data.m)], t


def looks_back(at, scale):
    most = (at.data.n - 1) * arb(-scale).exp() if scale else 0
    for t, rows in enumerate(at.token_weights(1)):
        for i, row in enumerate(rows):
            yield 1 - row[max(i - 1, 0)], "<=", most, t, i


def finds_the_successor(at):
    for t, row in enumerate(at.weights(2)):
        yield row[successor(at.data, t)], ">", fmpq(9, 10), t


def copies(at):
    for t, (row, label) in enumerate(zip(at.query[2], at.labels, strict=True)):
        for x, y in zip(row, label, strict=True):
            yield abs(x - y), "<", fmpq(1, 10), t


def induction(rule, scale=0):
    """scale: s of a softmax; 0 for hardmax, whose logits are 0 and 1."""
    return Construction(
        name=f"induction-{rule}",
        title=f"an induction head with {rule}",
        theorem="the induction head's theorem",
        source="examples/induction_head.py",
        build=partial(build, rule=rule, scale=scale or 1),
        hypotheses={
            "tokens": Hypothesis("A token is a letter, a place, and room.", tokens, ("example",)),
            "once": Hypothesis("The last letter stands once before.", copied_once, ("example",)),
            "first": Hypothesis(
                "The first letter is not the last.", first_is_not_last, ("example",)
            ),
            "labels": Hypothesis(
                "The label is what followed the earlier copy.", follows, ("example",)
            ),
        },
        steps={
            "previous": Step(
                "All but $(n-1)e^{-s}$ of a token's attention is on its predecessor.",
                partial(looks_back, scale=scale),
                rests_on=("tokens",),
                where=("example", "token"),
            ),
            "successor": Step(
                "The successor of the copy gets more than 9/10.",
                finds_the_successor,
                rests_on=("previous", "once", "first"),
                where=("example",),
            ),
            "copied": Step(
                "What is attended to is within 1/10 of the label.",
                copies,
                rests_on=("successor", "labels"),
                where=("example",),
            ),
        },
        promises={"parameters": lambda sizes: 8 * sizes.m + 2 * sizes.n, "heads": lambda _: 2},
        options=(),
    )


HARDMAX, SOFTMAX = induction("hardmax"), induction("softmax", 8)


def tokens_of(word, V):
    places = range(len(word))
    return [[*(int(x == j) for j in range(V)), *(int(i == j) for j in places), *[0] * V]
            for i, x in enumerate(word)]  # fmt: skip


def strings(length, V=3):
    """All strings of V letters on which the hypotheses hold."""
    words = [w for w in product(range(V), repeat=length)
             if w[:-1].count(w[-1]) == 1 and w[0] != w[-1]]  # fmt: skip
    contexts = [tokens_of(word, V) for word in words]
    after = [word[word.index(word[-1]) + 1] for word in words]
    labels = [[int(x == j) for j in range(V)] for x in after]
    return Dataset.of(contexts, [context[-1] for context in contexts], labels, "strings")


def main(folder="."):
    for construction in (HARDMAX, SOFTMAX):
        register(construction)
        proof = prove(strings(5), Prove(construction.name))
        write_report(proof, f"{folder}/{construction.name}")
        print(f"{construction.name}: {proof.standing.value}, exit status {proof.exit_status}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
