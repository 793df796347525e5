"""Hand-built networks from publications, rebuilt from their descriptions and tried on all inputs.

python benchmarks/networks_public.py [--quick]

Each function returns data and a network, and, for a network that generates an answer, also the
domain of its inputs. An output is right if it is nearer to its own label than to any other. The
weights are ours. --quick omits the networks that take minutes.
"""

import sys
import time
from collections.abc import Callable, Iterator
from itertools import permutations, product
from math import cos, pi, sin
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
    prove,
    readout,
    register,
)
from attncert.constructions.network.blocks import Normalization
from attncert.constructions.network.composed import Gated
from attncert.verify.outputs.nearest import margins
from attncert.verify.outputs.rounded import computed
from attncert.verify.outputs.rounding import FORMATS

sys.path.append(str(Path(__file__).resolve().parent.parent))
from benchmarks.networks_adders import (
    Case,
    alibi_adder,
    matrix,
    period_adder,
    reads,
    rotary_adder,
    trained_adder,
)
from examples import induction_head


def unit(size: int, *places: int) -> list[int]:
    return [int(i in places) for i in range(size)]


def at_each_token(
    words: Any, token: Callable[..., Any], label: Callable[..., Any], before: Any = ()
) -> Dataset:
    """The examples are all tokens of all words; `before`: tokens placed before each word."""
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
    """Halfway between 1/(k + 1) and 1/k, the weights if k + 1 or k tokens have equal logits."""
    return fmpq(2 * k + 1, 2 * k * (k + 1)) if k else fmpq(2)


def reverse(V: int = 3, n: int = 5) -> Case:
    """Token i attends to position n - 1 - i."""
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
    """A letter that occurs k times gives 1/(1 + k) of its attention to the first token."""
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
    """A letter counts the smaller ones, as above; position i attends to the letter of rank i."""
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
    """A mean counts the ones; the token whose position is the count says whether it is even."""
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


def first(n: int = 8) -> Case:
    """Whether the first letter is a 1, for all words of up to n letters. Attention to it fades as
    1/n; layer normalization with ε = 0 turns this number and its negative into 1 and -1."""
    bit, start, both, end, d = 0, 1, 2, 3, 4
    ones = matrix(d, d, {(bit, both): 1, (start, both): 1})
    value = matrix(d, 1, {(both, 0): 1, (start, 0): fmpq(-1, 2)})
    head = Head(reads(d, start, 1), reads(d, end, 1), value)
    network = Network((
        FeedForward(ones, fmpq_mat([[0, 0, -1, 0]]), "all", "relu", residual=True),
        Attention((head,), fmpq_mat([[-1, 1]]), unit="1"),
        Normalization(fmpq_mat([[1, 1]]), fmpq_mat(1, 2), fmpq(0), centred=True),
        readout(fmpq_mat([[1, 0], [0, 1]])),
    ))  # fmt: skip
    words = [word for k in range(1, n + 1) for word in product((0, 1), repeat=k)]
    query = unit(d, end)
    contexts = [[query, *([x, int(i == 0), 0, 0] for i, x in enumerate(word))] for word in words]
    data = Dataset.of(contexts, [query] * len(words), [unit(2, word[0]) for word in words])
    return Case("first letter, with LayerNorm", "Chiang and Cholak 2022", data, network)


def modular(p: int = 31, frequencies: tuple[int, ...] = (1, 4, 11)) -> Case:
    """Outputs Σ_w cos w(a + b - c), from products of the cosines and sines of wa and wb."""
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
    first,
    modular,
    lambda: induction(False),
    lambda: induction(True),
    alibi_adder,
)
SLOW = (period_adder, lambda: period_adder(3, None), rotary_adder, trained_adder)


def judged(case: Case) -> tuple[str, ...]:
    """The number of inputs, the verdict, the least margin, and an input that has it or fails."""
    goals = [Nearest(), *([Generates(case.domain, case.width)] if case.domain else [])]
    method = Construction("public", lambda data, request: case.network, claims=goals)
    trace = prove(case.data, Prove(register(method).name)).trace
    if case.domain is None:
        claim = trace[ClaimId("layer.memorizes")]
        shown = claim.numbers | (claim.witness or {})
        verdict = claim.level.value, shown["margin"][0], f"example {shown['example']}"
        return f"{case.data.T:,}", *verdict
    claim = trace[ClaimId("situations")]
    shown = claim.numbers.get("least") or claim.witness or {}
    sequence = shown["prompt"] + shown["answer"][: shown["place"]]
    text = "".join("0123456789=+"[symbol] for symbol in sequence)
    return f"{case.domain.inputs:,}", claim.level.value, shown["lead"][0], f"after {text}"


def in_float32(case: Case) -> str:
    """Whether rounding keeps the nearest label; for a domain, only on the examples."""
    levels = margins(case.data, computed(case.network, case.data, FORMATS["float32"])).levels
    kept, tried = sum(level.holds for level in levels), f"{case.data.T:,} tried"
    if kept < case.data.T:
        return f"open on {case.data.T - kept:,} of {tried}"
    return "kept" if case.domain is None else f"kept on {tried}"


def rows(cases: tuple[Callable[[], Case], ...]) -> Iterator[list[str]]:
    for make in cases:
        start = time.process_time()
        case = make()
        told = judged(case)
        seconds = f"{time.process_time() - start:.1f}"
        parameters = str(case.network.parameters)
        yield [case.name, case.source, parameters, *told, in_float32(case), seconds]


def main(*options: str) -> None:
    headings = [
        "network",
        "description",
        "parameters",
        "inputs",
        "verdict",
        "margin",
        "where",
        "float32",
        "s",
    ]
    print(f"| {' | '.join(headings)} |")
    print("| --- | --- | ---: | ---: | --- | ---: | --- | --- | ---: |")
    for row in rows(CASES if "--quick" in options else CASES + SLOW):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
