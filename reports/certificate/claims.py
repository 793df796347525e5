"""What each claim of a certificate says, in words.

Every statement is taken from the contents of the file, never from its own description.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from attncert.constructions.foreign import printable
from attncert.verify.claims.words import counted, listed

_TERMS = 6  # the number of terms of a relation that are written out
_LENGTH = 24  # the longest number that is written out
_LAYER = "the paper's definition of an attention layer"
_POWERS = f"{_LAYER}, and that exp(k ln 2) is 2 to the power of k"
_BLOCKS = "what the blocks of a network compute (docs/certificate.md)"
_INTERVALS = "the intervals hold the true numbers"
_NEWTON = (
    "Newton's method starts at the weights in the file and may move {} of them, one for each "
    "label. One step, taken anywhere in the box of this radius, stays in the box and brings any "
    "two points closer together. So the step leaves some point fixed, and there the outputs are "
    "the labels. All inequalities are computed with integers, rounded to the safe side."
)
_IRRATIONAL = "It does not give these real weights exactly: in general they are irrational."
_TRUE_EXP = "The exponential function is the true one, not rounded."


class Words(NamedTuple):
    """What is claimed, about what, why it is proved, and what is left open; the mathematics that
    leads from the computation to the claim; and what is taken on trust."""

    claim: str
    subject: str
    proof: str
    limits: str
    argued: str = ""
    assumed: str = ""

    @property
    def trust(self) -> str:
        argued = f"Argued, not computed: {self.argued}." if self.argued else ""
        assumed = f"Also taken on trust: {self.assumed}." if self.assumed else ""
        return " ".join(filter(None, [argued, assumed]))


def _interpolation(cert: Mapping[str, Any]) -> Words:
    return Words(
        "The file holds the weights of an attention layer that outputs exactly the wanted label on "
        f"each of {_examples(cert)}. The outputs and the labels are equal fractions.",
        f"{_inputs(cert)} {_layer(cert)}",
        "Attention mixes the tokens with softmax weights, which are irrational in general. Here "
        "every score (logit) is a whole multiple of ln 2, so that each weight is a power of two "
        "over a sum of powers of two: a fraction. Everything the layer computes is then a "
        "fraction, computed without rounding and compared with the label.",
        _silent("layer", "other labels"),
        assumed=_POWERS,
    )


def _full_rank(cert: Mapping[str, Any]) -> Words:
    return Words(
        f"The keys and queries in the file let an attention layer memorize {_examples(cert)} "
        "whatever their labels: for every choice of labels some values and output matrix make the "
        "layer output exactly these.",
        f"{_inputs(cert)} {_layer(cert)} The labels in the file are not used.",
        "Before its last, linear step the layer turns each example into one row of numbers (its "
        "features). If these rows are linearly independent, every labelling is a solvable system. "
        f"Independence is shown modulo p = {_prime(cert)}: a determinant that is not 0 modulo p is "
        "not 0.",
        "It does not give the values and outputs for any particular labels, nor say how long their "
        f"numbers are. {_silent('layer')}",
        "rows that are independent modulo a prime are independent over the rational numbers, and "
        "independent rows serve every labelling (docs/mathematics.md; in Coq, docs/kernel.md: "
        "prime_rank_lifts, reduction)",
        _POWERS,
    )


def _dependent_set(cert: Mapping[str, Any]) -> Words:
    dims, relation = cert["dims"], cert["relation"]
    members = relation["indices"]
    sum_ = _sum(list(zip(members, relation["coefficients"], strict=True)), "x")
    vectors = counted(dims["vectors"], "vector")
    return Words(
        f"Of {vectors}, the {len(members)} with the numbers {listed(members)} are linearly "
        f"dependent, so that the Kruskal rank of the vectors is below {len(members)}.",
        f"{vectors} of {counted(dims['width'], 'number')}, in the file.",
        f"A sum with coefficients that are not 0 is zero: {sum_} = 0. It is computed without "
        "rounding.",
        "It says nothing about smaller sets: without one of them these vectors may be independent.",
    )


def _impossible(cert: Mapping[str, Any]) -> Words:
    terms = [(t, c) for t, c in enumerate(cert["relation"]) if c.partition("/")[0].strip("-0")]
    members = [t for t, _ in terms]
    return Words(
        f"No attention layer outputs the labels in the file on all of {_examples(cert)}: whatever "
        "its weights, the number of its heads and their widths, and even if the weights are chosen "
        "for these labels.",
        f"{_inputs(cert)} The conflict is between {counted(len(members), 'example')}: "
        f"{listed(members)}.",
        "Attention does not depend on the order of the tokens of a context, nor on a shift of all "
        "scores, so inputs that differ only by these (or by scaling the query against the tokens) "
        f"give tied outputs: for every layer {_sum(terms, 'output')} = 0. The same sum of the "
        "labels is not 0. The tie and both sums are checked on the numbers.",
        "It says nothing about other labels for the same inputs, or about layers that also see "
        "positions or the outputs of another layer.",
        "inputs that are tied in this way force this relation between the outputs of every "
        "attention layer (docs/tightness.md, section 3; in Coq, docs/kernel.md: tied_features, "
        "impossible)",
        _LAYER,
    )


def _near(cert: Mapping[str, Any]) -> Words:
    return _close(
        cert,
        "an attention layer",
        _layer(cert),
        "layer",
        "Banach's fixed point theorem for Newton's map (at the head of near.py in the checker; in "
        "Coq, docs/kernel.md: zero_in_box, accepted_interpolation_near)",
        _LAYER,
    )


def _network_near(cert: Mapping[str, Any]) -> Words:
    return _close(
        cert,
        "the network",
        _blocks(cert),
        "network",
        "Banach's fixed point theorem for Newton's map (at the head of near.py in the checker), "
        "and the chain rule (derivatives.py)",
        _BLOCKS,
    )


def _close(
    cert: Mapping[str, Any], who: str, built: str, kind: str, theorem: str, assumed: str
) -> Words:
    """The claim that weights exist close to those in the file. built: how `who` is computed."""
    radius = short(printable(cert["near"]["radius"], 200))
    return Words(
        f"Within {radius} of the weights in the file, in every number, there are real "
        f"weights with which {who} outputs exactly the wanted label on each of "
        f"{_examples(cert)}. The weights in the file only come close.",
        f"{_inputs(cert)} {built} {_TRUE_EXP}",
        _NEWTON.format(counted(len(cert["near"]["unknowns"]), "number")),
        f"{_IRRATIONAL} {_silent(kind, 'other labels')}",
        theorem,
        assumed,
    )


def _every_labelling(cert: Mapping[str, Any]) -> Words:
    labels = cert["dims"]["examples"] * cert["dims"]["labels"]
    return Words(
        f"Whatever labels {_examples(cert)} have, some weights make an attention layer of these "
        "sizes output exactly these labels. All weights may depend on the labels: that is weaker "
        "than one choice of keys and queries for all labels.",
        f"{_inputs(cert)} {_layer(cert)} The labels in the file are not used.",
        "The weights in the file output 0 on every input: heads with equal keys and queries have "
        f"values that cancel. The derivatives of the {counted(labels, 'output number')} with "
        f"respect to the weights form a table of {counted(labels, 'row')}, which are independent. "
        "So small changes of the weights reach all small labels, and larger values all others. "
        f"Independence is shown modulo p = {_prime(cert)}: a determinant that is not 0 modulo p is "
        "not 0.",
        "It does not give the weights for any particular labels, nor say how large they are. "
        f"{_silent('layer')}",
        "near a zero with independent derivatives all small outputs are reached, and values can be "
        "scaled (at the head of every_labelling.py in the checker; in Coq, docs/kernel.md: "
        "all_labels, accepted_every_labelling)",
        _POWERS,
    )


def _network(cert: Mapping[str, Any]) -> Words:
    return Words(
        "The file holds a network that outputs exactly the wanted label on each of "
        f"{_examples(cert)}. The outputs and the labels are equal fractions.",
        f"{_inputs(cert)} {_blocks(cert)}",
        "Every number between the blocks is a fraction, computed without rounding: softmax weights "
        "are fractions if the scores differ by whole multiples of ln 2, or not at all. The outputs "
        "are compared with the labels.",
        _silent("network", "other labels"),
        assumed=f"{_BLOCKS}, and that exp(k ln 2) is 2 to the power of k",
    )


def _within(cert: Mapping[str, Any]) -> Words:
    return Words(
        "The file holds a network whose outputs differ from the wanted labels by at most "
        f"{short(printable(cert['within'], 200))}, in every number, on each of {_examples(cert)}.",
        f"{_inputs(cert)} {_blocks(cert)} {_TRUE_EXP}",
        "Every number between the blocks is enclosed in an interval, computed with integers and "
        "rounded outwards. The intervals of the outputs are compared with the labels.",
        f"It does not say that the outputs equal the labels. {_silent('network')}",
        f"{_INTERVALS} (at the heads of near.py and arithmetic.py in the checker; in Coq, "
        "docs/kernel.md: accepted_outputs_within)",
        _BLOCKS,
    )


def _nearest(cert: Mapping[str, Any]) -> Words:
    return Words(
        "The file holds a network whose output is nearer to the wanted label than to any other "
        f"label in the file, on each of {_examples(cert)}, by a margin of at least "
        f"{short(printable(cert['nearest']['margin'], 200))}. The margin is half the difference of "
        "the squared distances. For labels with a single 1 among zeros, the output at the place of "
        "the 1 exceeds every other one by the margin.",
        f"{_inputs(cert)} {_blocks(cert)} {_TRUE_EXP}",
        "If every number between the blocks is a fraction, it is computed without rounding. "
        "Otherwise it is enclosed in an interval, computed with integers and rounded outwards. The "
        "margins are then compared with that of the file.",
        "It does not say that the outputs equal the labels, or are close to them. "
        f"{_silent('network')}",
        f"the margin is half the difference of squared distances, and {_INTERVALS} (at the "
        "heads of nearest.py, near.py and arithmetic.py in the checker)",
        _BLOCKS,
    )


def _generates(cert: Mapping[str, Any]) -> Words:
    words, domain = _nearest(cert), cert["domain"]
    inputs = f"{math.prod(map(len, domain['letters'])):,}"
    fixed = "every symbol is" if domain["width"] is None else f"{domain['width']} letters are"
    return words._replace(
        claim=f"{words.claim} Besides, the network runs on its own outputs, and the symbol with "
        f"the largest output comes next: after each of all {inputs} prompts of a domain it "
        "generates the right answer, by the same margin at each symbol. A prompt is a word of "
        "letters, and the answer is what a finite machine writes that reads the word; both are "
        "listed in the file.",
        proof=f"{words.proof} For the domain the checker lists all local situations. In each, "
        f"{fixed} fixed, and any other place may hold any symbol that it can have; the interval "
        "that holds all of these is used.",
        limits=words.limits.replace("other inputs", "inputs outside the domain"),
        argued=f"{words.argued}; and every answer follows from the situations by induction over "
        "its symbols (at the head of nearest.py)",
    )


def _network_rank(cert: Mapping[str, Any]) -> Words:
    of, T = cert["rank"]["of"], _examples(cert)
    shown = {
        "jacobian": f"Networks of this shape output an open set of labellings of {T}: near some "
        "labels, every small change of the labels comes from some change of the weights.",
        "jacobian at zero": f"Networks of this shape memorize every labelling of {T}: for every "
        "choice of labels some weights make the network output exactly these.",
        "features": "One choice of all weights except the last values lets a network of this "
        f"shape memorize every labelling of {T}.",
    }
    derivatives = "derivatives with respect to all weights"
    rows = "features of the last block" if of == "features" else derivatives
    return Words(
        shown.get(of, ""),
        f"{_inputs(cert)} {_blocks(cert)} The labels in the file play no part.",
        f"The {rows} are independent modulo p = {printable(cert['rank']['primes'][0], 200)}, so "
        "they are independent: a determinant that is not 0 modulo p is not 0. After a softmax the "
        "scores are fractions. Modulo p a power of two depends only on its exponent modulo the "
        "next prime of the file, so residues still exist: they belong to real weights whose "
        "keys are multiples of those in the file. The sign of a number before a ReLU is read from "
        "an interval that holds it whatever the softmax weights.",
        "It does not give the weights for any particular labels, nor say how large they are. "
        f"{_silent('network')}",
        "the residues modulo the primes are those of real weights, and independent derivatives or "
        "features prove this about labels (docs/depth.md)",
        f"{_BLOCKS}, and that exp(k ln 2) is 2 to the power of k",
    )


def further(cert: Mapping[str, Any]) -> tuple[str, str]:
    """What the file states besides its claim, and why this is proved."""
    statement = argument = ""
    if "layer" in cert and len(cert["network"]) > 1:
        before = counted(len(cert["network"]) - 1, "block")
        statement += f" The layer is the last block of a network, after {before}."
        argument += " The outputs of the blocks before it are computed without rounding."
    if saturation := cert["saturation"]:
        which = "every example of its own group and of the groups before it"
        which = which if saturation["own"] else "every example of the groups before its own"
        statement += (
            f" Saturation: the examples are in {counted(len(cert['groups']), 'group')}, one for "
            f"each of the first heads. In each of these heads {which} gives all its attention "
            f"except less than 2^-{saturation['bits']} to one token. The checker's line says how "
            "many such cases there are."
        )
        argument += (
            " Saturation is an inequality between sums of powers of two, compared as integers."
        )
    origin = cert["origin"]
    if origin and origin["kind"] == "rounded":
        statement += (
            " Rounding: the inputs are the original ones, which the file also holds, rounded to "
            f"multiples of {short(origin['grid'])} (ties to even). No number was changed by more "
            f"than {short(origin['largest_change'])}, and no label. Nothing is claimed about the "
            "original inputs."
        )
        argument += " Every number is compared with the original one."
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
    "generates": _generates,
    "network-near": _network_near,
    "network-rank": _network_rank,
}


def _silent(what: str, *more: str) -> str:
    subjects = ", ".join([*more, "other inputs", "training"])
    return (
        f"It says nothing about {subjects}, or about the {what} in floating point, where every "
        "step rounds."
    )


def _examples(cert: Mapping[str, Any]) -> str:
    return counted(cert["dims"]["examples"], "example")


def _prime(cert: Mapping[str, Any]) -> str:
    return printable(cert["rank"]["prime"], 200)


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


def short(x: str) -> str:
    return x if len(x) <= _LENGTH else f"{x[: _LENGTH - 9]}... ({len(x)} characters)"
