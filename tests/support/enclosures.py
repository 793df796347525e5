"""Encloses the error of weights, given as float arrays in base e or as a layer in units of ln 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.weights.own import of_arrays
from attncert.verify.claims.evidence import Claim
from attncert.verify.features.attention import Attention
from attncert.verify.outputs.enclosure import enclosed_error


def enclose_error(data: Dataset, weights: Layer | Mapping[str, AnyArray], **options: Any) -> Claim:
    if isinstance(weights, Layer):
        attention = Attention(data, weights, unit="ln2")
    else:
        attention = Attention(data, of_arrays(weights).layer)
    return enclosed_error(data, attention.outputs, **options)
