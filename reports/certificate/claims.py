"""What each claim of a certificate says, in words: what, about what, why, what it leaves open.

Everything said is taken from the file, never from what the file says of itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

from attncert.constructions.foreign import printable
from attncert.constructions.numerals import fraction, numeral
from attncert.verify.claims.words import counted, listed

_TERMS = 6  # of a relation that is written out
_LENGTH = 24  # characters of a number that is written out
# What no checker runs: the mathematics between what is computed and what is claimed.
ARGUMENTS = {
    "interpolation": "Not computed, but taken on trust: the paper's definition of an attention "
    "layer, and that exp(k ln 2) is 2 to the power of k.",
    "full-rank": "Not computed, but argued in a few lines (docs/mathematics.md) and proved in Coq "
    "(docs/kernel.md: prime_rank_lifts, reduction): "
    "that rows which are independent modulo a prime are independent over the rational "
    "numbers, and that independent rows serve every labelling. Also taken on trust: the paper's "
    "definition of an attention layer, and that exp(k ln 2) is 2 to the power of k.",
    "dependent-set": "The sum is the claim: no further argument is needed.",
    "impossible": "Not computed, but argued on half a page (docs/tightness.md, section "
    "3) and proved in Coq (docs/kernel.md: tied_features, impossible): that inputs tied in this "
    "way force this relation between the outputs of every attention layer. The checker confirms "
    "the tie and that the labels break the relation; taken on trust is the paper's definition of "
    "an attention layer.",
    "interpolation-near": "Not computed, but argued on a few lines at the head of near.py there "
    "and proved in Coq (docs/kernel.md: zero_in_box, accepted_interpolation_near): Banach's fixed "
    "point theorem for Newton's map. Also taken on trust: the paper's definition of an attention "
    "layer.",
    "every-labelling": "Not computed, but argued on a few lines at the head of every_labelling.py "
    "there and proved in Coq (docs/kernel.md: all_labels, accepted_every_labelling): that near a "
    "zero with independent derivatives all small outputs are reached, and that values can be "
    "scaled. Also taken on trust: the paper's definition of an attention layer, and that "
    "exp(k ln 2) is 2 to the power of k.",
    "network": "Not computed, but taken on trust: what the blocks of a network compute "
    "(docs/certificate.md), and that exp(k ln 2) is 2 to the power of k.",
    "nearest": "Not computed, but argued at the head of nearest.py, near.py and arithmetic.py "
    "there: that the margin is half the difference of squared distances, and that the intervals "
    "hold the true numbers. Also taken on trust: what the blocks of a network compute "
    "(docs/certificate.md).",
    "outputs-within": "Not computed, but argued at the head of near.py and arithmetic.py there "
    "and proved in Coq (docs/kernel.md: accepted_outputs_within): that the intervals hold the true "
    "numbers. Also taken on trust: what the blocks of a network compute (docs/certificate.md).",
}

# The claims, each as: what it claims, about what, why that can be proved, what it leaves open.

Words = tuple[str, str, str, str]


def _interpolation(cert: Mapping[str, Any]) -> Words:
    dims = cert["dims"]
    return (
        f"The file holds the weights of an attention layer that outputs exactly the wanted label "
        f"on each of {counted(dims['examples'], 'example')}. Exactly: not up to rounding, but as "
        "fractions that are equal.",
        f"{_inputs(cert)} {_layer(cert)}",
        "Attention mixes the tokens with softmax weights, usually irrational numbers. Here every "
        "score (logit) is a whole multiple of ln 2, so that each weight is a power of two over a "
        "sum of powers of two: a fraction. Everything the layer computes is then a fraction, "
        "computed without rounding and compared with the label.",
        "Nothing about other inputs or other labels, about training, or about what the layer does "
        "in floating point, where every step rounds.",
    )


def _full_rank(cert: Mapping[str, Any]) -> Words:
    dims = cert["dims"]
    T = dims["examples"]
    return (
        f"The keys and queries in the file let an attention layer memorize {counted(T, 'example')} "
        "whatever their labels: for every choice of labels some values and output matrix make the "
        "layer output exactly these.",
        f"{_inputs(cert)} {_layer(cert)} The labels in the file play no part.",
        f"Before its last, linear step the layer turns each example into one row of numbers "
        f"(its features). If these rows are linearly independent, every "
        f"labelling is a solvable system. Independence is shown modulo "
        f"p = {printable(cert['rank']['prime'], 200)}: a determinant that is not 0 modulo p is not "
        "0. These two arguments are on paper; the rank modulo p is what is computed.",
        "It does not give the values and outputs for any particular labels, nor say how long their "
        "numbers are; nothing about other inputs, training or floating point.",
    )


def _dependent_set(cert: Mapping[str, Any]) -> Words:
    dims, relation = cert["dims"], cert["relation"]
    members = relation["indices"]
    sum_ = _sum(list(zip(members, relation["coefficients"], strict=True)), "x")
    return (
        f"Of {counted(dims['vectors'], 'vector')}, the {len(members)} with the numbers "
        f"{listed(members)} are linearly dependent, so that not every {len(members)} of the "
        f"vectors are independent (their Kruskal rank is below {len(members)}).",
        f"{counted(dims['vectors'], 'vector')} of {counted(dims['width'], 'number')}, in the file.",
        f"By a sum that is zero, with coefficients that are not: {sum_} = 0. It is added up "
        "without rounding.",
        "Nothing about smaller sets: these vectors without one of them may be independent or not.",
    )


def _impossible(cert: Mapping[str, Any]) -> Words:
    terms = [(t, c) for t, c in enumerate(cert["relation"]) if c.partition("/")[0].strip("-0")]
    members = [t for t, _ in terms]
    gap = _gap(cert["data"]["labels"], terms)
    return (
        f"No attention layer outputs the labels in the file on all of "
        f"{counted(cert['dims']['examples'], 'example')}: whatever its weights, the number of its "
        "heads and their widths, and even if the weights are chosen for these labels.",
        f"{_inputs(cert)} The conflict is between {counted(len(members), 'example')}: "
        f"{listed(members)}.",
        "Attention does not see the order of the tokens of a context, nor a shift of all scores, "
        "and inputs that differ only by these (or by scaling the query against the tokens) give "
        "equal outputs. It follows that for every layer "
        f"{_sum(terms, 'output')} = 0, while for the labels {_sum(terms, 'label')} = {gap}. That "
        "the inputs are tied in this way is checked on the numbers; that tied inputs give tied "
        "outputs is a theorem (docs/tightness.md, section 3; in Coq: docs/kernel.md).",
        "Nothing about other labels for the same inputs; nothing about layers that see more than "
        "these contexts and queries, such as positions or a second layer.",
    )


def _near(cert: Mapping[str, Any]) -> Words:
    T, N = cert["dims"]["examples"], len(cert["near"]["unknowns"])
    radius = short(printable(cert["near"]["radius"], 200))
    return (
        f"Within {radius} of the weights in the file, in every single number, there are real "
        f"weights with which an attention layer outputs exactly the wanted label on each of "
        f"{counted(T, 'example')}. The weights in the file themselves only come close.",
        f"{_inputs(cert)} {_layer(cert)} The exponential function is the true one, not rounded.",
        "Newton's method is started at the weights in the file and may move "
        f"{counted(N, 'number')} of them, one for each label. It is shown that one step, taken "
        "anywhere in the box of this radius, stays in the box and brings any two points closer "
        "together. So there is a point that the step leaves where it is, and there the outputs are "
        "the labels. All "
        "inequalities are computed with integers, rounded so that they can only come out too "
        "weak; the theorem is at the head of the checker, and in Coq (docs/kernel.md).",
        "It does not name these real weights to the last digit, and in general nobody can: they "
        "are irrational. Nothing about other labels or other inputs, about training, or about "
        "what the layer does in floating point.",
    )


def _every_labelling(cert: Mapping[str, Any]) -> Words:
    dims = cert["dims"]
    T, labels = dims["examples"], dims["examples"] * dims["labels"]
    return (
        f"Whatever labels {counted(T, 'example')} have, some weights make an attention layer of "
        "these sizes output exactly these labels. The weights depend on the labels, keys and "
        "queries too: that is weaker than one choice of keys and queries for all labels.",
        f"{_inputs(cert)} {_layer(cert)} The labels in the file play no part.",
        "The weights in the file output 0 on every input: heads with equal keys and queries have "
        f"values that cancel. How the {counted(labels, 'output number')} change with the weights "
        f"is a table of derivatives, whose {counted(labels, 'row')} are independent. So small "
        "changes of the weights reach all small labels, and larger values all others. Independence "
        f"is shown modulo p = {printable(cert['rank']['prime'], 200)}: a determinant that is not 0 "
        "modulo p is not 0. The theorem is on paper (it stands at the head of the checker); the "
        "zero and the rank are what is computed.",
        "It does not give the weights for any particular labels, nor say how large they are; "
        "nothing about other inputs, training or floating point.",
    )


def _network(cert: Mapping[str, Any]) -> Words:
    T = cert["dims"]["examples"]
    return (
        f"The file holds a network that outputs exactly the wanted label on each of "
        f"{counted(T, 'example')}. Exactly: not up to rounding, but as fractions that are equal.",
        f"{_inputs(cert)} {_blocks(cert)}",
        "Every number between the blocks is a fraction, computed without rounding: a softmax is "
        "one where its scores differ by whole multiples of ln 2, or not at all. The outputs are "
        "compared with the labels.",
        "Nothing about other inputs or other labels, about training, or about what the network "
        "does in floating point, where every step rounds.",
    )


def _within(cert: Mapping[str, Any]) -> Words:
    T, within = cert["dims"]["examples"], short(printable(cert["within"], 200))
    return (
        f"The file holds a network whose outputs differ from the wanted labels by at most "
        f"{within}, in every number, on each of {counted(T, 'example')}.",
        f"{_inputs(cert)} {_blocks(cert)} The exponential function is the true one, not rounded.",
        "Every number between the blocks is enclosed in an interval, computed with integers and "
        "rounded outwards. The intervals of the outputs are compared with the labels.",
        "Not that the outputs equal the labels; nothing about other inputs, about training, or "
        "about what the network does in floating point.",
    )


def _nearest(cert: Mapping[str, Any]) -> Words:
    T, margin = cert["dims"]["examples"], short(printable(cert["nearest"]["margin"], 200))
    return (
        f"The file holds a network whose output is nearer to the wanted label than to any other "
        f"label in the file, on each of {counted(T, 'example')}, by a margin of {margin}: so much "
        "is half the difference of the squared distances at least. For labels with a single 1 "
        "among zeros, the output at the place of the 1 exceeds every other one by the margin.",
        f"{_inputs(cert)} {_blocks(cert)} The exponential function is the true one, not rounded.",
        "If every number between the blocks is a fraction, all is computed without rounding. Else "
        "every number is enclosed in an interval, computed with integers and rounded outwards. The "
        "margins are then compared with that of the file.",
        "Not that the outputs equal the labels, or are close to them; nothing about other inputs, "
        "about training, or about what the network does in floating point.",
    )


def further(cert: Mapping[str, Any]) -> tuple[str, str]:
    """What the file states beside its claim, and why that can be proved."""
    statement = argument = ""
    if "layer" in cert and len(cert["network"]) > 1:
        before = counted(len(cert["network"]) - 1, "block")
        statement += f" The layer is the last block of a network, after {before}."
        argument += " What the blocks before it make of the data is computed without rounding."
    if saturation := cert["saturation"]:
        which = "every example of its own group and of the groups before it"
        which = which if saturation["own"] else "every example of the groups before its own"
        statement += (
            f" Saturation: the examples are in {counted(len(cert['groups']), 'group')}, one for "
            f"each of the first heads. In each of these heads {which} gives its attention to one "
            f"token alone, but for less than 2^-{saturation['bits']} of it. The checker's line "
            "says how many such cases there are."
        )
        argument += (
            " Saturation is an inequality between sums of powers of two, compared as integers."
        )
    origin = cert["origin"]
    if origin and origin["kind"] == "rounded":
        statement += (
            " Rounding: the inputs are the original ones, which are in the file too, rounded to "
            f"multiples of {short(origin['grid'])} (of two that are equally near, to the even "
            f"multiple). No number was changed by more than {short(origin['largest_change'])}, "
            "and no label. Nothing is claimed about the original inputs."
        )
        argument += " Every number is compared with what it was before."
    if origin and origin["kind"] == "domain":
        statement += (
            " The examples are all inputs of a domain: its contexts, each with its queries."
        )
        argument += " All pairs are listed and compared with the examples."
    return statement, argument


CLAIMS: dict[str, Callable[[Mapping[str, Any]], Words]] = {
    "interpolation": _interpolation,
    "full-rank": _full_rank,
    "dependent-set": _dependent_set,
    "impossible": _impossible,
    "interpolation-near": _near,
    "every-labelling": _every_labelling,
    "network": _network,
    "outputs-within": _within,
    "nearest": _nearest,
}


def _inputs(cert: Mapping[str, Any]) -> str:
    dims, data = cert["dims"], cert["data"]
    if "sequences" in data:
        return _prefixes(dims, data)
    shared, width = len(data["contexts"]) == 1 and dims["examples"] > 1, len(data["queries"][0])
    least = f"{min(cert['tokens'])} to " if cert["tokens"] else ""
    tokens = f"{least}{counted(dims['context'], 'token')} of {counted(width, 'number')} each"
    return (
        f"{counted(dims['examples'], 'example').capitalize()}, numbered from 0. Each has a context "
        f"({tokens}{', the same one for all' if shared else ''}), a query of "
        f"{counted(width, 'number')}, and a label of "
        f"{counted(dims['labels'], 'number')}."
    )


def _prefixes(dims: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    added = "" if data["positions"] is None else " plus that of its place"
    return (
        f"{counted(dims['examples'], 'example').capitalize()}, numbered from 0: places in "
        f"{counted(len(data['sequences']), 'sequence')} over "
        f"{counted(len(data['embedding']), 'symbol')}. A token is the vector of its symbol"
        f"{added}, {counted(dims['width'], 'number')}. The context of an example is the sequence "
        f"up to its place, at most {counted(dims['context'], 'token')}; its query is the last "
        f"token there, and it has a label of {counted(dims['labels'], 'number')}."
    )


def _layer(cert: Mapping[str, Any]) -> str:
    dims = cert["dims"]
    return (
        f"The layer has {counted(dims['heads'], 'head')}; keys and queries have width "
        f"{dims['head_width']}, values {dims['value_width']}."
    )


def _blocks(cert: Mapping[str, Any]) -> str:
    kinds = [printable(block["kind"], 200) for block in cert["network"]]
    runs = [f"{len(list(same))} {kind}" for kind, same in groupby(kinds)]
    return f"The network has {counted(len(kinds), 'block')}: {', then '.join(runs)}."


def _sum(terms: list[tuple[int, str]], symbol: str) -> str:
    """2·x(3) - x(5) ... with the first few terms."""
    text = ""
    for k, (index, coefficient) in enumerate(terms[:_TERMS]):
        negative = coefficient.startswith("-")
        size = coefficient.removeprefix("-")
        factor = "" if size == "1" else f"{short(size)}·"
        sign = ("-" if negative else "") if k == 0 else (" - " if negative else " + ")
        text += f"{sign}{factor}{symbol}({index})"
    more = len(terms) - _TERMS
    return f"{text} + ... ({counted(more, 'more term')})" if more > 0 else text


def _gap(labels: list[list[str]], terms: list[tuple[int, str]]) -> str:
    """What the labels add up to, exactly where that is short.

    A sum has no more digits, above and below, than its fractions have together and one of them
    alone, but for the carries: below 1,000 it can be added up and written without a thought.
    """
    numbers = [x for t, c in terms for x in (c, *labels[t])]
    if sum(len(x) for x in numbers if "/" in x) + 2 * max(map(len, numbers)) > 1000:
        return "something else than 0"
    rows = [[fraction(c) * fraction(y) for y in labels[t]] for t, c in terms]
    sums = [short(numeral(sum(column))) for column in zip(*rows, strict=True)]
    more = ", ..." if len(sums) > _TERMS else ""
    return sums[0] if len(sums) == 1 else f"({', '.join(sums[:_TERMS])}{more})"


def short(x: str) -> str:
    return x if len(x) <= _LENGTH else f"{x[: _LENGTH - 9]}... ({len(x)} characters)"
