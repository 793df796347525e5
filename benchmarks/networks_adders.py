"""Published transformers that add ten-digit numbers, rebuilt from their descriptions.

`networks_public.py` judges them. Lowest digits come first unless stated otherwise.
"""

from dataclasses import dataclass
from itertools import product
from math import cos, exp, log, pi, sin, sqrt
from typing import Any

from flint import fmpq, fmpq_mat

from attncert import Attention, Dataset, FeedForward, Head, Network, Transducer, additions, readout
from attncert.constructions.network.blocks import Normalization
from attncert.constructions.network.composed import Gated, Group
from attncert.constructions.network.positional import GeneralAttention, HeadNorm, Rotary
from examples import adder


@dataclass(frozen=True)
class Case:
    """source: where it is described. domain, width: as in `Generates`."""

    name: str
    source: str
    data: Dataset
    network: Network
    domain: Transducer | None = None
    width: int | None = None


def matrix(rows: int, columns: int, entries: dict[tuple[int, int], Any]) -> fmpq_mat:
    """The matrix with these entries, and 0 elsewhere. A float is the rational that it stores."""
    made = fmpq_mat(rows, columns)
    for (i, j), x in entries.items():
        made[i, j] = fmpq(*x.as_integer_ratio()) if isinstance(x, float) else fmpq(x)
    return made


def reads(width: int, start: int, size: int, times: int = 1) -> fmpq_mat:
    """width×size: selects the coordinates from `start` onwards."""
    return matrix(width, size, {(start + j, j): times for j in range(size)})


# The adder with 36 parameters: the coordinates of its vectors. The block after the first attention
# computes the ones from LOW to LOW + 9, and TOP.
EQUALS, SIGN, DIGIT, POWER, AFTER, ONE, LOW, TOP = 0, 1, 2, 3, 4, 5, 6, 16


def alibi_adder(digits: int = 10) -> Case:
    """The adder with 36 parameters on AdderBoard (alexlitz), tried on a + 0, highest digits first.

    ALiBi with slope log 10 gives every digit its power of ten, with a minus sign after "=". The
    mean of digits times powers is the part of the sum still to be written; the next digit is the
    one whose multiple of the power is nearest. The published numbers are kept.
    """
    signs = (0, digits + 1, *range(digits + 2, 2 * digits + 3))  # with the 0s between them
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
    """Add 10^6 |x_v| to the first ten coordinates, of which 5 to 9 are x_0 to x_4; the digit has
    the least sum."""
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
        readout(matrix(40, 12, back), fmpq_mat([[0] * 10 + [-(10**30)] * 2])),  # signs never win
    )


def period_adder(digits: int = 10, width: int | None = 2) -> Case:
    words = [[*[(9, 9)] * digits, (0, 0)]]
    domain = additions(digits)
    data = domain.dataset(words, **adder.tables(digits))
    network = adder.build(data, None, digits)
    name = f"adder of period {digits + 1}, {digits} digits"
    return Case(name, "AdderBoard: cosminscn", data, network, domain, width)


# The adder with one parameter c: its two coordinates.
LARGE, VALUE = 0, 1


def rotary_adder(c: int = 1000) -> Case:
    """The adder with 1 parameter on AdderBoard (issue 71, jnros), with the numbers stated there.

    Digit d is the vector (c - d^2/c, -d). Digits i of the two numbers are 19 places apart, which is
    a full turn of the rotation. So the query before digit i of the sum sees a_i and b_i ten times
    as strongly as a_(i-1) and b_(i-1), and other digits very weakly: its second coordinate becomes
    10t - c', where t is the sum of both digits and the carry into place i, and c' is the carry into
    place i - 1. If this is 94 or more, SwiGLU subtracts 100. The digit d with 10d nearest to it has
    the largest logit.
    """
    turn, root = 2 * pi / 19, sqrt(2)
    ones, none, epsilon = fmpq_mat([[1, 1]]), fmpq_mat(1, 2), fmpq(1, 10**6)
    strength = log(10) / (cos(0.3 * turn) - cos(0.7 * turn)) / 2
    head = Head(
        matrix(2, 2, {(LARGE, 0): 1}),
        matrix(2, 2, {(LARGE, 0): cos(10.3 * turn), (LARGE, 1): -sin(10.3 * turn)}),
        matrix(2, 1, {(VALUE, 0): -22 * c / root}),
    )
    attention = GeneralAttention(
        (head,), matrix(1, 2, {(0, VALUE): 1}), unit="1",
        norm=HeadNorm(epsilon, matrix(1, 2, {(0, j): strength for j in (0, 1)}), ones),
        rotary=Rotary("turn", fmpq_mat([[fmpq(1, 19)]])),
    )  # fmt: skip
    low = fmpq(-12032, 1000) * c
    gate, up = fmpq_mat([[low, low - 128], [128 * c, 128 * c]]), fmpq_mat([[1, 1], [0, 0]])
    carry = matrix(2, 2, {(0, VALUE): fmpq(-100, 256), (1, VALUE): fmpq(100, 256)})
    digits = fmpq_mat([[c - fmpq(d * d, c) for d in range(10)], [-d for d in range(10)]])
    last = matrix(1, 2, {(0, LARGE): c / (10 * root), (0, VALUE): -c / (50 * root)})
    norm = Normalization(ones, none, epsilon)
    network = Network((
        Group((Normalization(ones, none, epsilon, of="all"), attention), residual=True),
        Group((norm, Gated(gate, none, up, none), readout(carry)), residual=True),
        Normalization(last, none, epsilon),
        readout(digits),
    ))  # fmt: skip
    plain = additions(10)
    frame = (0,) * 11  # the zeros before, between and after the numbers
    step = plain.step | {(carried, frame): (0, carried) for carried in (0, 1)}
    places = [*((1 + i, 20 + i) for i in range(10)), (0, *range(11, 20), 30)]
    domain = Transducer([*plain.letters[:10], [frame]], places, 0, step)
    table = [[f"{c * c - d * d}/{c}", -d] for d in range(10)]
    data = domain.dataset([[*[(9, 9)] * 10, frame]], embedding=table)
    return Case(
        "adder of 1 parameter (RoPE, SwiGLU)", "AdderBoard: jnros", data, network, domain, 2
    )


def thousandths(*rows: tuple[float, ...]) -> fmpq_mat:
    return fmpq_mat([[fmpq(round(1000 * x), 1000) for x in row] for row in rows])


def trained_adder() -> Case:
    """The 67 trained parameters that ARCHITECTURE.md of evindor's MicroAdder states, to three
    decimals. Angles and positions are rounded to float64.

    Two coordinates of a token hold its digit, as a point on an arc; three hold its position. The
    query is rotated to the next position.
    """
    arc = [-0.4902 + 0.1387 * d for d in range(10)]
    digits = [[6.0641 * cos(x), 6.0641 * sin(x), 0, 0, 0] for x in arc]
    angles = [2 * pi * i / 10 for i in range(10)]
    ring = [[0, 0, 3.5 * cos(x), 3.5 * sin(x), 0.15 * i] for i, x in enumerate(angles)]
    plus, equals, last = [0] * 5, [0, 0, 3.471, -1.040, 0.995], [0, 0, 3.073, -1.404, 15.874]
    key = thousandths(
        (-2.463, -1.878, -0.793, 1.482), (-0.472, 1.487, 2.211, 2.264),
        (0.315, 1.099, -1.530, 0.268),
    )  # fmt: skip
    c, s = cos(-0.5126) / 2, sin(-0.5126) / 2  # divided by the square root of the width, 4
    turned = matrix(4, 4, {(j, j): c for j in range(4)} | {
        place: sign * s for j in (0, 2) for place, sign in (((j, j + 1), 1), ((j + 1, j), -1))
    })  # fmt: skip
    shared = thousandths(
        (-10.044, 0.088, -0.537, 0.709, -0.114), (-0.060, -4.016, -0.505, 0.144, -0.739)
    )
    down = thousandths((0.078,), (-0.810,), (-0.062,), (0.001,), (-0.656,))
    up = thousandths((0.046, -0.716, -0.010, 0.011, -0.002))
    first = thousandths(
        (0.410, -0.836, -0.262, 0.024, -1.655), (0.449, 0.839, -0.166, -0.116, -1.465)
    )
    second = thousandths(
        (-0.951, 0.665, -0.002, 0.005, -0.027), (-0.871, -0.901, -0.056, 0.050, -0.048)
    )
    gain = thousandths((7.961, 13.596, 2.398, 2.407, 3.524))
    none, epsilon = fmpq_mat(1, 5), fmpq(1, 10**5)
    digit, place = reads(5, 0, 2), reads(5, 2, 3)
    head = Head(place * key, place * key * turned, digit * shared)
    table = matrix(2, 10, {(j, d): digits[d][j] for j in (0, 1) for d in range(10)})
    norm = Normalization(gain, none, epsilon)
    hidden = FeedForward(first.transpose(), fmpq_mat(1, 2), activation="gelu")
    network = Network((
        Group((Normalization(gain, none, epsilon, of="all"),
               Attention((head,), down * up, unit="1")), residual=True),
        Group((norm, hidden, readout(second)), residual=True),
        norm,
        readout(shared.transpose() * table),
    ))  # fmt: skip
    domain, positions = additions(10), [*ring, plus, *ring, equals, *ring, last]
    words = [[*[(9, 9)] * 10, (0, 0)]]
    data = domain.dataset(words, embedding=digits, positions=positions)
    name = "trained adder of 67 parameters (RMSNorm, GELU)"
    return Case(name, "AdderBoard: evindor", data, network, domain, 2)
