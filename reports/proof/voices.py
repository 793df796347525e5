"""What a report says of each construction in its own words: title, theorem, source, its numbers.

Everything else in a report is the same for all of them. A construction that is not listed here is
told in general terms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from attncert.verify.claims.proof import Proof

PAPER = "Mahdavi, Liao and Thrampoulidis (ICLR 2024)"


@dataclass(frozen=True)
class Voice:
    """Sentences in the form of `reports.words.text`.

    title:    "... by the paper's construction". certificate: its name in `certificate.json`.
    theorem, source: what it is the proof of, and where that is written.
    placed:   what H(r-1)+1 counts. numbers: the paragraph above the table of heads.
    others:   what the heat map shows left of a head's own group.
    general:  what one instance does not show. without_a1: what carries the answer where A1 is not.
    """

    title: str
    certificate: str
    theorem: str
    source: str
    placed: str
    numbers: str
    others: str
    general: str
    without_a1: str


_PARTITION = (
    "What the proof asks of the queries is the partition condition of its own groups "
    "(hypothesis.partition), and it is checked"
)
_VOICES = {
    "paper": Voice(
        title="the paper's construction",
        certificate="mahdavi2024",
        theorem=f"Theorem 1 of {PAPER}",
        source="its proof, made explicit in docs/mathematics.md, section 2",
        placed="examples that these heads place, $H(r-1)+1$",
        numbers="A head is $M_h=c\\,uv^\\top+\\sum_tw_t\\hat e_t^\\top$ over its group, the "
        "examples that it places. $c$ is the multiplier that makes each earlier example attend to "
        "one row of its context; $B$ is the smallest logit gap over them, in bits, and "
        '$(n-1)2^{-B}$ the bound on $1-p_{\\max}$ that follows. "A priori" is what Weyl\'s bound '
        'would ask for; "none" is a bound of 1 or more, which says nothing. No claim rests on '
        "either: the rank at this $c$ is certified itself.",
        others="which the head steers to one row each, as far as the rank needs it",
        general="Theorem 1 in general: the trace is one instance of its proof, not a check of the "
        "proof for all data.",
        without_a1=_PARTITION,
    ),
    "rank-one": Voice(
        title="heads of width one",
        certificate="rank-one",
        theorem="the theorem on heads of width one (ours)",
        source="docs/width-one.md, proved there in full",
        placed="examples that these heads place, $H(n-1)+1$",
        numbers="A head of the proof is $M_h=u(c\\,v_0+v_1)^\\top$ over its group, the examples "
        "that it places; their own logits $\\alpha_tE^{(t)}u$ are free of $c$. $c$ is the least "
        "whole number at which the rank of all heads so far is certified, and that can be before "
        "anything saturates: $B$ is the least lead, at this $c$, of the row that an earlier "
        "example attends to in the limit, in bits, and it is negative where that row does not "
        'lead yet. "A priori" is what Weyl\'s bound would ask for. A short head is no head of '
        "the proof: its key and query are the shortest there are, it has neither selector nor "
        "$c$, and the rank is all that is claimed of it.",
        others="which a head of the proof moves towards one row each as far as the rank needs it, "
        "and a short head leaves alone",
        general="The theorem on width one in general: the trace is one instance of its proof "
        "(docs/width-one.md), not a check of it for all data; of short heads it shows the rank "
        "alone.",
        without_a1=_PARTITION,
    ),
    "generic": Voice(
        title="generic weights",
        certificate="generic",
        theorem="corollary 2 of docs/width-one.md: almost all weights (ours)",
        source="docs/width-one.md, corollary 2; the rank itself needs no theorem",
        placed="examples promised for almost all weights under A1 and A2, $H(n-1)+1$",
        numbers="Keys and queries are small integers drawn at random, and the rank decides. A "
        "group is what a head adds: the examples that are independent with this head and were not "
        "before. No head steers anything: there is no selector, no $c$ and no saturation. With "
        "distinct contexts more examples than promised may be placed, or fewer heads do; nothing "
        "promises that, and the certificate is the evidence.",
        others="which the head was not asked to keep still",
        general="That almost all weights do as well is argued, from one minor that is not zero "
        "(almost-all); how well conditioned they are is not said.",
        without_a1="Neither A1 nor A2 is used: the rank of these weights is computed",
    ),
}
_OTHER = Voice(
    title="a construction without a name",
    certificate="",
    theorem="no theorem that this report knows",
    source="",
    placed="examples that these heads place",
    numbers="Groups list the examples that a head places.",
    others="which the head may move",
    general="The theorem in general: the trace is one instance of its proof.",
    without_a1="The answer rests on what is named with it",
)


def voice(proof: Proof) -> Voice:
    """How the report speaks of this construction: by its name, where that is all it knows."""
    name = proof.settings.get("construction")
    other = replace(_OTHER, title=f"the construction {name}") if name else _OTHER
    return _VOICES.get(str(name), other)
