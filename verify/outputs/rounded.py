"""The outputs of a network as computed in float32 or float64, in the balls of rounding.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.arithmetic import BALLS, RATIONAL, Inexact, factor
from attncert.constructions.network.blocks import (
    SMOOTH,
    Attention,
    Block,
    FeedForward,
    Normalization,
)
from attncert.constructions.network.composed import Gated, Group
from attncert.constructions.network.network import Network
from attncert.constructions.network.positional import (
    GeneralAttention,
    Positions,
    Rotary,
    places_of,
)
from attncert.constructions.network.states import States, beside, stacked
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.outputs.error import Limit, judged_in_balls, measured, spread, statement_of
from attncert.verify.outputs.rounding import FORMATS, FUNCTION, SMOOTH_FUNCTION, Format

BITS = 128  # working precision, far above that of the machine
_SOURCE = "ours: Higham's model (verify/outputs/rounding.py)"


def computed(network: Network, data: Dataset, form: Format) -> arb_mat:
    """The outputs as computed in this format, T×m balls. The network must fit the data. Raises
    Inexact."""
    with ctx.workprec(BITS):
        contexts = tuple(form.stored(X) for X in States.of(data, RATIONAL).contexts)
        states = States(contexts, form.stored(data.query_matrix), BALLS)
        for block in network.blocks:
            states = _after(block, states, form)
        return states.queries


def _after(block: Block, states: States, form: Format) -> States:
    tokens, queries = states.contexts, states.queries
    if isinstance(block, Group):
        inner = states
        for part in block.blocks:
            inner = _after(part, inner, form)
        tokens, queries = inner.contexts, inner.queries
    else:
        if block.of == "all":
            each = [States((X,), X, BALLS) for X in tokens]
            tokens = tuple(_made(block, each, form, of_tokens=True))
        [queries] = _made(block, [states], form, of_tokens=False)
    if block.residual:
        queries = form.each(form.rounded, queries + states.queries)
        if block.of == "all":
            pairs = zip(tokens, states.contexts, strict=True)
            tokens = tuple(form.each(form.rounded, x + y) for x, y in pairs)
    return States(tokens if block.of == "all" else states.contexts, queries, BALLS)


def _made(block: Block, runs: Sequence[States], form: Format, *, of_tokens: bool) -> list[arb_mat]:
    """For each of the runs a matrix with a row for each query. Weights are stored once for all."""
    if isinstance(block, Attention):
        return _attention(block, runs, form, of_tokens=of_tokens)
    if isinstance(block, Positions):
        table = form.stored(block.table).tolist()
        places = [_places(block.query_place, run, of_tokens) for run in runs]
        return [arb_mat([table[place] for place in some]) for some in places]
    vectors = [run.in_rows() if block.of == "row" else run.queries for run in runs]
    if isinstance(block, Normalization):
        return _normalizations(block, vectors, form)
    assert isinstance(block, (Gated, FeedForward))
    sums = _affine(vectors, block.weights, block.bias, form)
    if isinstance(block, FeedForward):
        return [_activated(x, block.activation, form) for x in sums]
    gates = _affine(vectors, block.gate, block.gate_bias, form)
    pairs = zip((_activated(x, block.activation, form) for x in gates), sums, strict=True)
    return [form.each(lambda x, y: form.rounded(x * y), *pair) for pair in pairs]


def _places(query_place: str, states: States, of_tokens: bool) -> list[int]:
    pairs = states.by_context()
    return [p for pair in pairs for p in places_of(*pair, query_place, of_tokens=of_tokens)]


# Attention.


def _attention(
    block: Attention, runs: Sequence[States], form: Format, *, of_tokens: bool
) -> list[arb_mat]:
    heads = [[form.stored(x) for x in (head.query, head.key, head.value)] for head in block.heads]
    output, made = form.stored(block.output), list[arb_mat]()
    for run in runs:
        means = [_means(block, h, x, run, form, of_tokens=of_tokens) for h, x in enumerate(heads)]
        made.append(form.product(beside(means, BALLS), output))
    return made


def _means(
    block: Attention,
    head: int,
    weights: Sequence[arb_mat],
    states: States,
    form: Format,
    *,
    of_tokens: bool,
) -> arb_mat:
    """The mean of a head's values for each query. weights: its query, key and value, stored."""
    query, key, value = weights
    means = []
    for queries, context in states.by_context():
        asked, keys = form.product(queries, query), form.product(context, key)
        if isinstance(block, GeneralAttention):
            places = places_of(queries, context, block.query_place, of_tokens=of_tokens)
            rows = _general(block, head, asked, keys, places, form)
        else:
            rows = _scaled(asked, keys, factor(block.unit), form)
        masks = block.masks(int(context.nrows()), len(rows), of_tokens)
        pairs = zip(rows, masks, strict=True)
        shares = arb_mat([_shares(block, head, row, mask, form) for row, mask in pairs])
        means.append(form.product(shares, form.product(context, value)))
    return stacked(means, BALLS)


def _scaled(asked: arb_mat, keys: arb_mat, scale: arb, form: Format) -> list[list[arb]]:
    """asked·keysᵀ·scale. The scale may multiply queries, keys or products, or a root of it both of
    the first: up to four more roundings of each term. The other factors multiply an underflow."""
    if scale == 1:
        return list(form.product(asked, keys.transpose()).tolist())
    products = form.product(asked, keys.transpose(), more=4)
    largest = sum(max(x.abs_upper() for x in some.entries()) for some in (asked, keys))
    tiny = 4 * int(keys.ncols()) * form.eta * (1 + largest)
    return list(form.each(lambda x: form.near(x * scale, tiny), products).tolist())


def _general(
    block: GeneralAttention,
    head: int,
    asked: arb_mat,
    keys: arb_mat,
    places: Sequence[int],
    form: Format,
) -> list[list[arb]]:
    """The logits with all parts of the block, in its order."""
    gains = (block.norm.query_gain, block.norm.key_gain) if block.norm else (None, None)
    asked = _prepared(block, asked, places, gains[0], form)
    keys = _prepared(block, keys, range(int(keys.nrows())), gains[1], form)
    scale = factor(block.unit)

    def logit(x: arb, place: int, token: int) -> arb:
        if block.cap is not None:
            error = SMOOTH_FUNCTION * form.u * x.abs_upper() + form.eta
            x = form.near(BALLS.capped(x, block.cap), error)
        if block.slopes is not None:
            slope = form.rounded(arb(block.slopes[0, head]))
            x = form.rounded(x - form.rounded(slope * abs(place - token)))
        if block.tables is not None:
            x = form.rounded(x + form.rounded(arb(block.tables[head][place, token])))
        return x if scale == 1 else form.rounded(x * scale, 2)

    rows = _scaled(asked, keys, arb(block.root).rsqrt(), form)
    return [
        [logit(x, place, token) for token, x in enumerate(row)]
        for place, row in zip(places, rows, strict=True)
    ]


def _prepared(
    block: GeneralAttention,
    vectors: arb_mat,
    places: Sequence[int],
    gain: fmpq_mat | None,
    form: Format,
) -> arb_mat:
    """Projected vectors, normalized and rotated."""
    if block.norm is not None:
        assert gain is not None
        rows = [_normalized(row, block.norm.epsilon, form) for row in vectors.tolist()]
        vectors = _times(rows, form.stored(gain), form)
    if block.rotary is None:
        return vectors
    pairs = zip(vectors.tolist(), places, strict=True)
    return arb_mat([_rotated(row, block.rotary, place, form) for row, place in pairs])


def _rotated(row: list[arb], rotary: Rotary, place: int, form: Format) -> list[arb]:
    """A cosine has the error of the function and that of the angle, whose frequency is computed."""
    made = list[arb]()
    for j, frequency in enumerate(rotary.frequencies.entries()):
        angle = arb(frequency) * place * (2 * arb.pi() if rotary.unit == "turn" else 1)
        error = 2 * FUNCTION * form.u * (1 + angle.abs_upper())
        cos, sin = (form.near(x, error) for x in BALLS.turn(frequency * place, rotary.unit))
        x, y = row[2 * j : 2 * j + 2]
        made.append(form.rounded(form.rounded(x * cos) - form.rounded(y * sin)))
        made.append(form.rounded(form.rounded(x * sin) + form.rounded(y * cos)))
    return made


def _shares(
    block: Attention, head: int, logits: list[arb], mask: Sequence[bool], form: Format
) -> list[arb]:
    """The attention weights of the tokens; 0 for those not seen."""
    shares = [x for x, sees in zip(logits, mask, strict=True) if sees]
    if isinstance(block, GeneralAttention) and block.sinks is not None:
        sink = arb(block.sinks[0, head]) * factor(block.unit)
        shares.append(form.rounded(sink, 3))
    if block.rule == "softmax":
        shares = form.softmax(shares)
    elif block.rule == "hardmax":
        shares = [form.rounded(x) for x in BALLS.hardmax(shares)]
    rest = iter(shares)
    return [next(rest) if sees else arb(0) for sees in mask]


# Blocks that change each vector separately.


def _affine(
    vectors: Sequence[arb_mat], weights: fmpq_mat, bias: fmpq_mat, form: Format
) -> list[arb_mat]:
    """The bias is one more term of each sum."""
    matrix = stacked([form.stored(weights), form.stored(bias)], BALLS)
    ones = (arb_mat(int(x.nrows()), 1, [1] * int(x.nrows())) for x in vectors)
    return [form.product(beside(pair, BALLS), matrix) for pair in zip(vectors, ones, strict=True)]


def _activated(sums: arb_mat, activation: str, form: Format) -> arb_mat:
    if activation == "identity":
        return sums
    function = getattr(BALLS, activation.replace("-", "_"))
    if activation not in SMOOTH:
        return form.each(function, sums)
    error = SMOOTH_FUNCTION * form.u
    return form.each(lambda x: form.near(function(x), error * x.abs_upper() + form.eta), sums)


def _normalizations(
    block: Normalization, vectors: Sequence[arb_mat], form: Format
) -> list[arb_mat]:
    (gain, bias), made = (form.stored(x) for x in block.matrices), list[arb_mat]()
    for some in vectors:
        rows = some.tolist()
        scaled = [_normalized(row, block.epsilon, form, centred=block.centred) for row in rows]
        biases = stacked([bias] * len(rows), BALLS)
        made.append(form.sum(_times(scaled, gain, form), biases))
    return made


def _normalized(row: list[arb], epsilon: fmpq, form: Format, *, centred: bool = False) -> list[arb]:
    """The row over the root of its mean square and ε, before gain and bias."""
    width = len(row)
    if centred:
        mean = form.rounded(form.total(row) / width, FUNCTION)
        row = [form.rounded(x - mean) for x in row]
    squares = form.product(arb_mat(1, width, row), arb_mat(width, 1, row))[0, 0]
    square = form.rounded(form.rounded(squares / width, FUNCTION) + form.rounded(arb(epsilon)))
    if not square > 0:
        raise Inexact(f"whether a normalization divides by 0 in {form.name} is not decided")
    scale = form.rounded(square.rsqrt(), 2 * FUNCTION)  # a root, and a division
    return [form.rounded(x * scale) for x in row]


def _times(rows: list[list[arb]], gain: arb_mat, form: Format) -> arb_mat:
    """Each row times the gain, number by number."""
    gains = gain.entries()
    return arb_mat([[form.rounded(x * g) for x, g in zip(row, gains, strict=True)] for row in rows])


def computed_claims(network: Network, data: Dataset, limit: Limit, name: str) -> list[Claim]:
    """The model of the machine, assumed, and whether the outputs that are computed in the format
    of this name satisfy the limit."""
    form = FORMATS[name]
    model = Claim(
        ids.MACHINE,
        f"Assumed: the machine rounds each operation to {name}, sums in any order, and computes "
        "functions up to a few units in the last place.",
        Level.ASSUMED,
        numbers={"u": f"2^-{form.p}", "function": f"{FUNCTION}u", "smooth": f"{SMOOTH_FUNCTION}u"},
        source=_SOURCE,
    )
    claim = statement_of(limit, data)
    try:
        outputs = computed(network, data, form)
    except Inexact as reason:
        claim = replace(claim, witness={"reason": f"{reason}"})
    else:
        error, claim = judged_in_balls(claim, data, lambda: outputs, limit)
        claim = measured(error, claim, spread(data))
    claim = replace(
        claim,
        id=ids.claimed(name),
        statement=claim.statement.replace("the output", f"the output computed in {name}", 1),
        arithmetic=f"ball arithmetic (Arb), {BITS} bits, widened by each rounding",
        rests_on=(model.id,),
        source=_SOURCE,
    )
    return [model, claim]
