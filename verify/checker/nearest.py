"""The claims "nearest" and "generates".

"nearest": each output is nearer to its own label than to any other label, by a margin.

Let o be the output of an example and y its label. For any other label y' in the data,
    |o - y'|^2 - |o - y|^2 = 2 ((y - y').o - (|y|^2 - |y'|^2) / 2).
The margin of the example is the least value of (y - y').o - (|y|^2 - |y'|^2) / 2 over all these y':
o is nearer to y than to any other label exactly when the margin is above 0. For one-hot labels the
margin is the output at the label minus the largest other output.

The labels are Y / u and the claimed margin is p / q, in integers; each entry of o is within r / w
of c / w. After multiplication by 2 q u^2 w, the margin is at least p / q for all such o if, for all
Y',
    2 q u ((Y - Y').c - |Y - Y'|.r) >= w (q (|Y|^2 - |Y'|^2) + 2 p u^2).
All of these are integers, so nothing is rounded. For exact outputs r is 0.

"generates": in addition, after every prompt in a domain, the network, run on its own outputs,
generates the right answer; the next symbol is the one with the largest output. A prompt is a word
of letters, each a tuple of symbols at given places. A finite machine reads the letters in order;
each step writes a symbol of the answer, which follows the prompt. Before symbol i, a situation
fixes the last `width` letters up to letter i (null: all letters), a state that can be reached
before them, and the symbols written since then. Any other place may hold any symbol that some word
puts there. The blocks before the first attention are computed for each of these symbols, and
attention reads a box that contains all results. If a box does not settle which output is largest,
the set of symbols at the first place in `halves` is halved, then that at the next place, and so on.

Theorem. If the output of the right symbol is the largest in every situation, on its whole box, all
answers are right. Proof by induction over the answer: if the answer is right before symbol i, some
situation contains the sequence and the state of the machine, so the network generates the symbol
that the machine writes. QED
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from functools import cache
from itertools import groupby, product
from math import prod
from typing import Any

from . import network
from .arithmetic import Mixed, pairs
from .blocks import FeedForward, Group, widths
from .exact import Map
from .functions import around
from .limits import Limits, need
from .near import GUARD
from .reading import MAX_ITEMS, all_of, dims, numbers, typed
from .sequences import placed

Parts = namedtuple("Parts", "network margin others")  # others: (label, its squared norm)


def parts(cert: Any, limits: Limits) -> Parts:
    plain = network.parts(cert, limits)
    margin = typed(cert["nearest"], dict, "nearest", "margin")["margin"]
    (p,), q, _ = numbers(limits, [margin], "nearest.margin", 1)
    need(p > 0, "nearest.margin must be above 0")
    once = [label for label, _ in groupby(sorted(plain.labels.rows))]
    need(len(once) > 1, "nearest needs two different labels")
    return Parts(plain, (p, q), [(label, limits.dot(label, label)) for label in once])


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    (blocks, contexts, queries, labels, _), (p, q), others = parts
    dot, product, u, P = limits.dot, limits.product, labels.unit, GUARD + (q // p).bit_length()
    scale, gap = product(2 * q, u), product(2 * p, product(u, u))
    on = Mixed(P, limits)
    states = network.states(on, blocks, contexts, queries, limits)
    for t, (_, query) in enumerate(states):
        centres, radii, w = on.around(query)
        label = labels.rows[t]
        square = dot(label, label)
        for other, its_square in others:
            limits.on_time()
            if other == label:
                continue
            apart = [x - y for x, y in zip(label, other, strict=True)]
            middle, spread = dot(apart, centres), dot(map(abs, apart), radii)
            least = product(w, product(q, square - its_square) + gap)
            possible = product(scale, middle + spread) >= least
            need(possible, f"the margin of example {t} is smaller than claimed", "wrong")
            undecided = f"balls of {P} bits are too wide to bound the margin of example {t}"
            need(product(scale, middle - spread) >= least, undecided, "over limit")
    return (
        f"the outputs of {all_of(cert['dims']['examples'])} are nearer to their labels than "
        f"to any other, by a margin of {cert['nearest']['margin']:.40}"
    )


# A domain.

# letters, places: for each step, the letters and the places of their symbols. step: maps (state,
# letter) to the next state and the written symbol. reached: the possible states before each step.
# symbols: for each place, the symbols that it may hold. halves: for each step, places to halve.
Domain = namedtuple("Domain", "letters places step width halves prompt reached symbols")
Generating = namedtuple("Generating", "nearest domain tokens unit")  # tokens[symbol][place]


def domain_parts(cert: Any, limits: Limits) -> Generating:
    need("spelled" in cert, "the claim 'generates' needs token sequences")
    nearest, (d, m) = parts(cert, limits), dims(cert, "width labels")
    embedding, positions = (cert["spelled"][key] for key in ("embedding", "positions"))
    rows = numbers(limits, embedding, "embedding", m, d)  # one symbol for each output
    domain = domain_of(cert["domain"], m, limits)
    length = domain.prompt + len(domain.letters)
    for n in range(domain.prompt, length):
        limits.on_time()
        widths(nearest.network.blocks, n, d, d)
    limits.hold(16 * m * length)
    table, tokens = placed(limits, rows, [[symbol] * length for symbol in range(m)], positions, d)
    return Generating(nearest, domain, tokens, table.unit)


def domain_of(one: Any, m: int, limits: Limits) -> Domain:
    typed(one, dict, "domain", "letters places start step width halves")
    letters = [[integers(x, m) for x in listed(some)] for some in listed(one["letters"])]
    places = [integers(x, MAX_ITEMS) for x in listed(one["places"])]
    prompt, width = sum(map(len, places)), one["width"]
    every = sorted(place for some in places for place in some)
    need(every == list(range(prompt)), "domain.places must list each place of the prompt once")
    need(len(places) == len(letters), "domain must have places for each step")
    for some, where in zip(letters, places, strict=True):
        need(len(set(some)) == len(some), "letters of a step must be different")
        need({len(letter) for letter in some} == {len(where)}, "a letter needs a symbol per place")
    known = width is None or (type(width) is int and width > 0)
    need(known, "domain.width must be null or an integer above 0")
    halves = typed(one["halves"], list, "domain.halves")
    need(len(halves) == len(letters), "domain must have a list of halves for each step")
    halves = [
        integers(typed(x, list, "halves"), prompt + i) if x else () for i, x in enumerate(halves)
    ]
    step = {}
    for row in listed(one["step"]):
        need(len(listed(row)) == 4, "a step must have a state, letter, next state and symbol")
        state, after = integers([row[0], row[2]], MAX_ITEMS)
        key = state, integers(row[1], m)
        need(key not in step, "no step may be given twice")
        step[key] = after, *integers([row[3]], m)
    reached, count = [set(integers([one["start"]], MAX_ITEMS))], 1
    may: Any = [set() for _ in range(prompt + len(letters))]
    for i, some in enumerate(letters):
        limits.on_time()
        after = set()
        for pair in product(reached[-1], some):
            need(pair in step, "a step is missing for a state that is reached")
            after.add(step[pair])
        reached.append({state for state, _ in after})
        may[prompt + i] = {symbol for _, symbol in after}
        count += len(after)
        limits.hold(100 * count)
        for letter in some:
            for place, symbol in zip(places[i], letter, strict=True):
                may[place].add(symbol)
    symbols = [tuple(sorted(some)) for some in may]
    return Domain(letters, places, step, width, halves, prompt, reached, symbols)


def listed(one: Any) -> Any:
    need(typed(one, list, "each part of domain"), "no part of domain may be empty")
    return one


def integers(one: Any, count: int) -> Any:
    whole = all(type(x) is int and 0 <= x < count for x in listed(one))
    need(whole, f"a symbol, place or state of domain must be an integer from 0 to {count - 1}")
    return tuple(one)


def situations(domain: Domain, i: int) -> Any:
    """For each situation, the symbols at the known places before symbol i of the answer, and symbol
    i."""
    letters, places, step, width, _, prompt, reached, _ = domain
    first = 0 if width is None else max(0, i + 1 - width)
    last = len(letters) if width is None else i + 1
    for start in reached[first]:
        for word in product(*letters[first:last]):
            state, known, written = start, dict[int, int](), list[int]()
            for letter, where in zip(word, places[first:last], strict=True):
                known |= zip(where, letter, strict=True)
                state, symbol = step[state, letter]
                written.append(symbol)
            known |= {prompt + first + k: written[k] for k in range(i - first)}
            yield known, written[i - first]


def domain_judge(cert: Any, parts: Generating, limits: Limits) -> str:
    nearest, domain, tokens, unit = parts
    statement = judge(cert, nearest, limits)
    (p, q), P = nearest.margin, GUARD + (nearest.margin[1] // nearest.margin[0]).bit_length()
    on, (blocks, last) = Mixed(P, limits), with_readout(nearest.network.blocks, len(tokens))
    blocks, vectors = ahead_of_attention(on, blocks, tokens, unit)
    ahead = [less_others(last, symbol) for symbol in range(len(tokens))]

    @cache
    def at(place: int, symbols: tuple[int, ...]) -> Any:
        some = (vectors[symbol][place] for symbol in symbols)
        return [hull(on, column) for column in zip(*some, strict=True)]

    def leads(box: Any, right: int) -> tuple[bool, bool]:
        """Whether the right symbol can lead by the margin in the box, and whether it must."""
        limits.on_time()
        x, inner, *keys = map(list, zip(*map(at, range(len(box)), box), strict=True))
        table = list(network.before(on, blocks, x, (inner, keys)))
        lead = network.query_after(on, [*blocks, ahead[right]], table, x[-1], inner[-1])
        centres, radii, w = on.around(lead)
        least, balls = limits.product(w, p), list(zip(centres, radii, strict=True))
        may = all((c + r) * q >= least for c, r in balls)
        return may, all((c - r) * q >= least for c, r in balls)

    for i, halves in enumerate(domain.halves):
        where = f"in a situation before symbol {i}"
        undecided = f"balls of {P} bits are too wide to bound the margin {where}"
        for known, right in situations(domain, i):
            places = range(domain.prompt + i)
            boxes = [([(known[k],) if k in known else domain.symbols[k] for k in places], halves)]
            while boxes:
                box, left = boxes.pop()
                may, does = leads(box, right)
                part = len(left) < len(halves)  # part of a box need not contain an input
                need(may or part, f"the margin {where} is smaller than claimed", "wrong")
                if not does:
                    need(left, undecided, "over limit")
                    boxes += halved(box, *left)
    return generated(statement, domain)


def halved(box: Any, first: int, *left: int) -> Any:
    """Two boxes, each with half of the symbols at the first place, and the remaining places."""
    middle = len(box[first]) // 2
    halves = filter(None, (box[first][:middle], box[first][middle:]))
    return [([*box[:first], some, *box[first + 1 :]], left) for some in halves]


def ahead_of_attention(on: Mixed, blocks: Any, tokens: Any, unit: int) -> Any:
    """The blocks from the first attention on (with the rest of its group, if it is in one); and for
    each symbol and place, what depends on that token alone: the vector before these blocks, the
    vector that enters the rest of the group, and the keys of the heads."""

    def after(some: Any, vectors: Any) -> Any:
        *_, (made, _) = network.before(on, some, vectors)
        return made

    first, blocks = network.alone(blocks)
    within: Any = []
    attention = blocks[0] if blocks else None
    if type(attention) is Group:
        within, others = network.alone(attention.blocks)
        blocks = [attention._replace(blocks=others), *blocks[1:]]
        attention = others[0] if others else None
    found = []
    for some in tokens:
        on.limits.on_time()
        x = after(first, [on.vector(row, unit) for row in some[:-1]])
        inner = after(within, x)
        found.append(list(zip(x, inner, *network.keys_of(on, attention, inner), strict=True)))
    return blocks, found


def generated(statement: str, domain: Domain) -> str:
    """The statement about the examples, extended to the prompts."""
    count = prod(map(len, domain.letters))
    return f"{statement}; for each of {count} prompts the network generates the right answer"


def hull(on: Mixed, vectors: Any) -> Any:
    """One vector of balls that contains all these vectors; a single vector is not changed."""
    if len(vectors) == 1:
        return vectors[0]
    columns = zip(*(zip(*on.enclosed(x), strict=True) for x in vectors), strict=True)
    return pairs([around(min(c - r for c, r in x), max(c + r for c, r in x)) for x in columns])


def with_readout(blocks: Any, m: int) -> Any:
    """The blocks before the readout, and the readout, which is linear in the query."""
    last = blocks[-1]
    if type(last) is FeedForward and last == FeedForward("query", "identity", last.map, False):
        return blocks[:-1], last.map
    return blocks, Map([[int(i == j) for j in range(m + 1)] for i in range(m)], 1)


def less_others(last: Map, right: int) -> FeedForward:
    """A map to the differences between the output `right` and each other output."""
    own, *others = last.columns[right:] + last.columns[:right]
    columns = [[x - y for x, y in zip(own, other, strict=True)] for other in others]
    return FeedForward("query", "identity", Map(columns, last.unit), False)
