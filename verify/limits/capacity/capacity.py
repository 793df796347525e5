"""`attncert capacity` as a function: what H heads can memorize, in three senses.

*All labels at once* (universal): one choice of key and query weights works for all labellings.
*Each labelling*: some weights output it. *Some labellings*: the labellings that some weights output
contain an open set, which is not specified. Each notion implies the next (docs/paper.md, section
1). For each notion, the answer bounds from both sides how many labels H heads memorize, and how
many heads all labels of these examples need. The conclusion, on the largest rank of the Jacobian,
is about the last notion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent, timed
from attncert.verify.certificates.certificate import Certificate, TooLarge, certificate, produced_by
from attncert.verify.certificates.installed import versions
from attncert.verify.checking.answers import answers
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.depth.capacity import DepthCapacity, depth_capacity
from attncert.verify.depth.notions import CapacityAnswer
from attncert.verify.limits.capacity.claims import claims_of
from attncert.verify.limits.capacity.jacobian import Jacobian, jacobian
from attncert.verify.limits.capacity.notions import notions
from attncert.verify.limits.capacity.universal import Universal, universal
from attncert.verify.limits.labelling.labelled import (
    Labelling,
    Trial,
    label_all,
    labelling_certificate,
)
from attncert.verify.limits.tightness.certificate import tied_certificate
from attncert.verify.limits.tightness.relations.probes import RankedLayer
from attncert.verify.provenance.after import behind
from attncert.verify.provenance.conclusion import in_words_of
from attncert.verify.provenance.sequences import by_class
from attncert.verify.questions.fit import Capacity
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.sharding.engine import Cluster
from attncert.verify.sharding.engine import dask as connected


@dataclass(frozen=True, kw_only=True, repr=False)
class DataCapacity(CapacityAnswer):
    """jacobian, universal, labelled: the sources of the numbers in the table."""

    jacobian: Jacobian
    universal: Universal
    labelled: Labelling


@answers(Capacity, data=Dataset)
def capacity(
    data: Dataset, question: Capacity | None = None, progress: StageProgress = silent
) -> DataCapacity | DepthCapacity:
    """How many labels of these examples H heads memorize, for each notion of memorizing.

    The conclusion holds if both bounds on the largest rank of the Jacobian agree, and is undecided
    otherwise. Only the width of the labels matters, but the claims also say what excludes the given
    labels. Arithmetic: exact. Source: ours, docs/tightness.md and docs/given-labels.md. Raises
    InputError if the Jacobian is too large or the device is missing.

    >>> from attncert import Capacity, Dataset, capacity
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> answer = capacity(data, Capacity(heads=1))
    >>> [(notion.about.value, notion.least, notion.most) for notion in answer.notions]
    [('universal', 2, 2), ('every labelling', 2, 3), ('some labellings', 3, 3)]
    """
    question = question or Capacity()
    with connected(question.dask) as cluster:
        if question.layers > 1:
            return depth_capacity(data, question, cluster, progress)
        return _one_layer(data, question, cluster, progress)


def _one_layer(
    data: Dataset, question: Capacity, cluster: Cluster | None, progress: StageProgress
) -> DataCapacity:
    if question.feed_forward:
        reason = "left out unless --layers is 2 or more"
        raise InputError("feed_forward", reason, question.feed_forward)
    data = by_class(behind(question.of(data), question.before))
    place, seconds = choose_device(question.device), dict[str, float]()
    with timed(seconds, "Jacobian"):
        law = jacobian(data, question, cluster, progress)
    with timed(seconds, "universal"):
        at_once = universal(data, law, question.seed, progress)
    with timed(seconds, "every labelling"):
        labelled, at_zero = _zeros(data, law, question.seed, place.namespace, progress)
    certificates, uncertified = _certificates(data, law, at_once, labelled, question)
    table = notions(data, law, at_once, labelled, at_zero)
    claims = claims_of(data, law, at_once, labelled, at_zero, table)
    return DataCapacity(
        question=question,
        data=data,
        trace=ProofTrace(in_words_of(data, claims)),
        conclusion=ids.LAW_CAPACITY,
        certificate=next(iter(certificates.values()), None),
        uncertified=uncertified,
        seconds=seconds,
        versions=versions(place.versions),
        notions=table,
        jacobian=law,
        universal=at_once,
        labelled=labelled,
        certificates=certificates,
    )


def _zeros(
    data: Dataset, law: Jacobian, seed: int, xp: Any, progress: StageProgress
) -> tuple[Labelling, Trial | None]:
    """Weights that prove that every labelling is memorized, with the fewest heads found, and the
    best weights with H heads."""
    if law.fewest is None:
        return Labelling(data, why="no number of heads is enough"), None
    sizes = law.head_width, law.value_width
    try:
        smallest = label_all(data, None, *sizes, seed=seed, xp=xp, progress=progress)
    except InputError as large:
        smallest = Labelling(data, why=str(large))
    if smallest.heads is not None and smallest.heads <= law.heads:
        return smallest, None
    labelled = label_all(data, law.heads, *sizes, seed=seed, xp=xp, progress=progress)
    return (labelled if labelled.proved else smallest), labelled.best


def _certificates(
    data: Dataset, law: Jacobian, at_once: Universal, labelled: Labelling, question: Capacity
) -> tuple[dict[About, Certificate], str]:
    """The certificates of the notions, the strongest first, and the reason if there is none."""
    provenance = produced_by(question.line(), question.seed)
    certificates: dict[About, Certificate] = {}
    why = "nothing was shown that a certificate could state"
    try:
        if at_once.full is not None and law.value_width >= data.m:
            certificates[About.UNIVERSAL] = _full_rank(
                data, at_once.full, law.value_width, provenance
            )
        if labelled.proved:
            last = labelled.trials[-1]
            certificates[About.EVERY_LABELLING] = labelling_certificate(
                data, last.zero, last.rank.prime, provenance
            )
    except TooLarge as reason:
        why = str(reason)
    tied = tied_certificate(data, provenance) if data.labelled else None
    if tied is not None:  # tied examples leave no other certificate
        certificates[About.THESE_LABELS] = tied
    return certificates, "" if certificates else why


def _full_rank(
    data: Dataset, full: RankedLayer, value_width: int, provenance: Mapping[str, Any]
) -> Certificate:
    return certificate(
        data,
        full.layer,
        [range(data.T)],
        construction="small random integers (docs/tightness.md)",
        produced_by=provenance,
        value_width=value_width,
        prime=full.prime,
    )
