"""Hand-built networks from publications, written from their descriptions and tried on all inputs.

python benchmarks/networks_public.py [--quick]

Each function returns data and a network, and for a network that generates an answer the domain of
its inputs. An output is right if it is nearer to its own label than to any other. The weights are
ours. --quick leaves out what takes minutes.
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations, product
from math import cos, exp, log, pi, sin
from pathlib import Path
from typing import Any

from flint import fmpq, fmpq_mat

from attncert import (
    Attention,
    ClaimId,
    Construction,
    Dataset,
    FeedForward,
    Generates,
    Head,
    Nearest,
    Network,
    Prove,
    Transducer,
    additions,
    prove,
    readout,
    register,
)
from attncert.constructions.network.composed import Gated
from attncert.constructions.network.positional import GeneralAttention

sys.path.append(str(Path(__file__).resolve().parent.parent))
from examples import adder, induction_head


@dataclass(frozen=True)
class Case:
    """source: of the description. domain, width: as in `Generates`."""

    name: str
    source: str
    data: Dataset
    network: Network
    domain: Transducer | None = None
    width: int | None = None


def matrix(rows: int, columns: int, entries: dict[tuple[int, int], Any]) -> fmpq_mat:
    """The matrix with these entries, and 0 elsewhere. A float is a rational number."""
    made = fmpq_mat(rows, columns)
    for (i, j), x in entries.items():
        made[i, j] = fmpq(*x.as_integer_ratio()) if isinstance(x, float) else fmpq(x)
    return made


def reads(width: int, start: int, size: int, times: int = 1) -> fmpq_mat:
    """width×size: the coordinates from `start` on."""
    return matrix(width, size, {(start + j, j): times for j in range(size)})


def unit(size: int, *places: int) -> list[int]:
    return [int(i in places) for i in range(size)]


def at_each_token(
    words: Any, token: Callable[..., Any], label: Callable[..., Any], before: Any = ()
) -> Dataset:
    """The examples are all tokens of all words; `before` are tokens before each word."""
    contexts, queries, labels = [], [], []
    for word in words:
        tokens = [token(word, i) for i in range(len(word))]
        for i in range(len(word)):
            contexts.append([*before, *tokens])
            queries.append(tokens[i])
            labels.append(label(word, i))
    return Dataset.of(contexts, queries, labels)


def uniform(width: int, value: fmpq_mat, output: fmpq_mat, **more: Any) -> Attention:
    """A block whose head attends to all tokens equally."""
    none = fmpq_mat(width, 1)
    return Attention((Head(none, none, value),), output, unit="1", **more)


def halfway(k: int) -> fmpq:
    """Between 1/(k + 1) and 1/k: attention that k others share with one token."""
    return fmpq(2 * k + 1, 2 * k * (k + 1)) if k else fmpq(2)


def reverse(V: int = 3, n: int = 5) -> Case:
    """Token i attends to the place n - 1 - i."""
    d = V + n
    back = matrix(d, n, {(V + i, n - 1 - i): 100 for i in range(n)})
    head = Head(reads(d, V, n), back, reads(d, 0, V))
    network = Network((Attention((head,), reads(V, 0, V), unit="1"),))
    data = at_each_token(
        product(range(V), repeat=n),
        lambda word, i: unit(d, word[i], V + i),
        lambda word, i: unit(V, word[n - 1 - i]),
    )
    return Case("reverse, as tracr compiles it", "Lindner et al. 2023", data, network)


def histogram(V: int = 3, n: int = 5) -> Case:
    """The first token gets 1/(1 + k) of the attention of a letter that occurs k times."""
    same = matrix(V + 1, V + 1, {(v, j): 1 for v in range(V) for j in (v, V)})
    head = Head(reads(V + 1, 0, V + 1), same, reads(V + 1, V, 1))
    often = [halfway(k) for k in range(1, n + 1)]
    steps = {(k, k): 1 for k in range(n)} | {(k + 1, k): -1 for k in range(n - 1)}
    network = Network((
        Attention((head,), reads(1, 0, 1), rule="hardmax", unit=None),
        FeedForward(fmpq_mat([[-1] * n]), fmpq_mat([often]), activation="threshold"),
        readout(matrix(n, n, steps)),
    ))  # fmt: skip
    data = at_each_token(
        product(range(V), repeat=n),
        lambda word, i: unit(V + 1, word[i]),
        lambda word, i: unit(n, word.count(word[i]) - 1),
        [unit(V + 1, V)],
    )
    return Case("histogram, as tracr compiles it", "Lindner et al. 2023", data, network)


def sort(V: int = 5, n: int = 4) -> Case:
    """A letter counts the smaller ones, as above; place i then attends to the letter of rank i."""
    first, place, share, rank = V, V + 1, V + 1 + n, V + 2 + n
    d = rank + n
    smaller = {(x, y): 1 for x in range(V) for y in range(x)}
    smaller |= {(x, V): 1 for x in range(V + 1)}
    count = Head(reads(d, 0, V + 1), matrix(d, V + 1, smaller), reads(d, first, 1))
    at_least = {(share, rank + k): -1 for k in range(n)} | {(first, rank): -9}
    bias = [[-1] * rank + [halfway(k) for k in range(n)]]
    of_rank = {(rank + k, k): 1 for k in range(n)} | {(rank + k + 1, k): -1 for k in range(n - 1)}
    find = Head(matrix(d, n, of_rank), reads(d, place, n), reads(d, 0, V))
    network = Network((
        Attention((count,), matrix(1, d, {(0, share): 1}), "all", "hardmax", None, residual=True),
        FeedForward(matrix(d, d, at_least), fmpq_mat(bias), "all", "threshold", residual=True),
        Attention((find,), reads(V, 0, V), rule="hardmax", unit=None),
    ))  # fmt: skip
    data = at_each_token(
        permutations(range(V), n),
        lambda word, i: unit(d, word[i], place + i),
        lambda word, i: unit(V, sorted(word)[i]),
        [unit(d, first)],
    )
    return Case("sort, as tracr compiles it", "Lindner et al. 2023", data, network)


def parity(n: int = 8) -> Case:
    """A mean counts the ones; the token whose place is that number says whether it is even."""
    bit, place, sign, count, hinge, d = 0, 1, 2, 3, 4, 7
    hinges = {(count, hinge + j): 1 for j in range(3)} | {(place, hinge + j): -1 for j in range(3)}
    here = {(hinge, 0): 1, (hinge + 1, 0): -2, (hinge + 2, 0): 1, (sign, 0): 1}
    network = Network((
        uniform(d, reads(d, bit, 1), matrix(1, d, {(0, count): n + 1}), of="all", residual=True),
        FeedForward(
            matrix(d, d, hinges), fmpq_mat([[0] * hinge + [-1, 0, 1]]), "all", "relu", residual=True
        ),
        FeedForward(matrix(d, 1, here), fmpq_mat([[-1]]), "all", "relu"),
        uniform(1, reads(1, 0, 1), reads(1, 0, 1, n + 1)),
        readout(fmpq_mat([[1, -1]]), fmpq_mat([[0, 1]])),
    ))  # fmt: skip
    words = list(product((0, 1), repeat=n))
    contexts = [[[x, i, (-1) ** i, 0, 0, 0, 0] for i, x in enumerate((0, *w))] for w in words]
    labels = [unit(2, sum(w) % 2) for w in words]
    data = Dataset.of(contexts, [context[0] for context in contexts], labels)
    return Case("parity", "Chiang and Cholak 2022", data, network)


def modular(p: int = 31, frequencies: tuple[int, ...] = (1, 4, 11)) -> Case:
    """cos w(a + b - c) from products of the cosines and sines of wa and wb, added over some w."""
    F, grid = len(frequencies), 10**6
    wave = lambda f, x: fmpq(round(grid * f(2 * pi * x / p)), grid)  # noqa: E731
    d = 4 * F
    token = lambda x: [wave(f, k * x) for k in frequencies for f in (cos, sin)]  # noqa: E731
    first, second, out = {}, {}, {}
    for j, k in enumerate(frequencies):
        for u, (f, g) in enumerate(((0, 0), (1, 1), (0, 1), (1, 0))):
            first[2 * j + f, 4 * j + u] = second[2 * F + 2 * j + g, 4 * j + u] = 1
            for c in range(p):
                out[4 * j + u, c] = (-1) ** (u == 1) * wave(cos if u < 2 else sin, k * c)
    none = fmpq_mat(1, d)
    network = Network((
        uniform(d, reads(d, 0, d), reads(d, 0, d, 2)),
        Gated(matrix(d, d, first), none, matrix(d, d, second), none, activation="identity"),
        readout(matrix(d, p, out)),
    ))  # fmt: skip
    pairs = list(product(range(p), repeat=2))
    zeros = [0] * (2 * F)
    texts = [[[str(x) for x in row] for row in ([*token(a), *zeros], [*zeros, *token(b)])]
             for a, b in pairs]  # fmt: skip
    data = Dataset.of(texts, [text[1] for text in texts], [unit(p, (a + b) % p) for a, b in pairs])
    return Case(f"addition modulo {p} by waves", "Nanda et al. 2023", data, network)


# The adder of 36 parameters: the coordinates of its vectors, of which the block after the first
# attention makes low to low + 9 and top.
EQUALS, SIGN, DIGIT, POWER, AFTER, ONE, LOW, TOP = 0, 1, 2, 3, 4, 5, 6, 16


def alibi_adder(digits: int = 10) -> Case:
    """36 parameters on AdderBoard (alexlitz), tried on the sums a + 0, highest digits first.

    ALiBi of slope log 10 gives every digit its power of ten, with a minus after "=". The mean of
    digits times powers is the part of the sum that is still to be written; the digit whose multiple
    of the power is nearest comes next. The published numbers are kept.
    """
    signs = (0, digits + 1, *range(digits + 2, 2 * digits + 3))  # and the 0s between them
    frame = (11, 11, *[0] * digits, 10)
    letters = [[frame], *[[(v,) for v in range(10)]] * digits]
    step = {(0, frame): (0, 0)} | {(0, (v,)): (0, v) for v in range(10)}
    domain = Transducer(letters, [signs, *[(i + 1,) for i in range(digits)]], 0, step)
    embedding = [[0, 0, 10 * v, 0, 0, 1] for v in range(10)]
    embedding += [[1, 1, 0, 0, 0, 1], [0, 1, 0, 0, 0, 1]]  # "=", and "+", which also comes first
    data = domain.dataset([[frame, *[(7,)] * digits]], embedding=embedding)
    network = Network((*powers_of_ten(), *nearest_digit()))
    name = "adder of 36 parameters (ALiBi), a + 0"
    return Case(name, "AdderBoard: alexlitz", data, network, domain, 1)


def powers_of_ten() -> tuple[Any, ...]:
    d, scale = ONE + 1, exp(-40 - log(10))
    key = matrix(d, 1, {(SIGN, 0): 960, (ONE, 0): -1000})
    value = matrix(d, 1, {(SIGN, 0): 0.1 / scale, (EQUALS, 0): -1.1 / scale})
    none = fmpq_mat(d, 1)
    heads = Head(key, reads(d, ONE, 1), value), Head(none, none, reads(d, EQUALS, 1))
    gate = {(ONE, j): 1 for j in range(d)} | {(AFTER, LOW + v): 1 for v in range(10)}
    up = {(j, j): 1 for j in range(d)}
    up |= {(POWER, LOW + v): (2 * v + 1) * 5 * 10**11 for v in range(10)}
    gate[DIGIT, TOP], up[POWER, TOP], zero = 1, 10**10, fmpq_mat(1, TOP + 1)
    return (
        GeneralAttention(
            heads, matrix(2, d, {(0, POWER): 1, (1, AFTER): 1}), "all", unit="1", mask="causal",
            residual=True, slopes=matrix(1, 2, {(0, 0): log(10)}), sinks=fmpq_mat([[0, 0]]),
        ),
        Gated(matrix(d, TOP + 1, gate), zero, matrix(d, TOP + 1, up), zero, "all", "relu"),
    )  # fmt: skip


def nearest_digit() -> tuple[Any, ...]:
    """To the first ten coordinates, of which 5 to 9 are x_0 to x_4, it adds 10^6 |x_v|; the least
    is that of the digit."""
    d = TOP + 1
    rest = Head(fmpq_mat(d, 1), fmpq_mat(d, 1), matrix(d, 1, {(TOP, 0): 100, (ONE, 0): 15}))
    everywhere = matrix(1, d, {(0, j): 1 for j in range(d) if j != ONE})
    first = [EQUALS, SIGN, DIGIT, POWER, AFTER, *range(LOW, LOW + 5)]
    halves, back = {}, {}
    for v, s in product(range(10), (0, 1)):
        side = 1 - 2 * s
        halves[LOW + v, 4 * v + s], halves[first[v], 4 * v + 2 + s] = side * 10**4, side
        back[4 * v + s, v], back[4 * v + 2 + s, v] = -100, -side
    return (
        GeneralAttention((rest,), everywhere, unit="1", residual=True, sinks=fmpq_mat([[0]])),
        FeedForward(matrix(d, 40, halves), fmpq_mat(1, 40), activation="relu"),
        readout(matrix(40, 12, back), fmpq_mat([[0] * 10 + [-(10**30)] * 2])),  # no signs
    )


def period_adder(digits: int = 10, width: int | None = 2) -> Case:
    words = [[*[(9, 9)] * digits, (0, 0)]]
    domain = additions(digits)
    data = domain.dataset(words, **adder.tables(digits))
    network = adder.build(data, None, digits)
    name = f"adder of period {digits + 1}, {digits} digits"
    return Case(name, "AdderBoard: cosminscn", data, network, domain, width)


def induction(soft: bool) -> Case:
    data = induction_head.strings(6)
    construction = induction_head.SOFTMAX if soft else induction_head.HARDMAX
    name = f"induction head, {'softmax' if soft else 'hardmax'}"
    return Case(name, "Olsson et al. 2022", data, construction.build(data, None))


CASES: tuple[Callable[[], Case], ...] = (
    reverse,
    histogram,
    sort,
    parity,
    modular,
    lambda: induction(False),
    lambda: induction(True),
    alibi_adder,
)
SLOW = (period_adder, lambda: period_adder(3, None))


def judged(case: Case) -> tuple[str, str, str]:
    """The number of inputs, the verdict, and the least margin or what fails."""
    goals = [Nearest(), *([Generates(case.domain, case.width)] if case.domain else [])]
    method = Construction("public", lambda data, request: case.network, claims=goals)
    trace = prove(case.data, Prove(register(method).name)).trace
    if case.domain is None:
        claim = trace[ClaimId("layer.memorizes")]
        shown = claim.numbers | (claim.witness or {})
        inputs, margin = case.data.T, shown["margin"][0]
    else:
        claim = trace[ClaimId("situations")]
        shown = claim.numbers.get("least") or claim.witness or {}
        inputs, margin = case.domain.inputs, shown["lead"][0]
    text = "".join("0123456789=+"[symbol] for symbol in shown.get("prompt", ()))
    told = margin if claim.level.holds else f"fails after {text}"
    return f"{inputs:,}", claim.level.value, told


def rows(cases: tuple[Callable[[], Case], ...]) -> Iterator[list[str]]:
    for make in cases:
        start = time.process_time()
        case = make()
        told = judged(case)
        seconds = f"{time.process_time() - start:.1f}"
        yield [case.name, case.source, str(case.network.parameters), *told, seconds]


def main(*options: str) -> None:
    headings = ["network", "description", "parameters", "inputs", "verdict", "least margin", "s"]
    print(f"| {' | '.join(headings)} |")
    print("| --- | --- |" + " ---: |" * 5)
    for row in rows(CASES if "--quick" in options else CASES + SLOW):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
