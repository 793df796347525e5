"""Labels: what their rank excludes."""

from __future__ import annotations

from support.oracles import rank
from support.tightness_cases import EYE

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Level
from attncert.verify.tightness.labels import label_rank


def test_labels_of_too_large_rank() -> None:
    data = Dataset.of(EYE[:2], EYE[:4], [[1, 0, 1], [0, 1, 1], ["1/2", 0, 0], [1, 1, 1]])
    refuted = label_rank(data, heads=1, value_width=2)
    assert refuted.level is Level.REFUTED and refuted.witness is not None
    table = data.labels.fractions()
    minor = [[table[t][j] for j in refuted.witness["columns"]] for t in refuted.witness["rows"]]
    assert rank(minor) == 3 and len(minor) == 3
    assert label_rank(data, heads=1, value_width=3).level is Level.PROVED
    assert label_rank(data, heads=2, value_width=2).level is Level.PROVED
