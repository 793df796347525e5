"""Writing certificates: the `attncert/3` object of a claim (docs/certificate.md).

The checker (verify/checker) reads the file with its own code, and refuses a file above its caps. No
such file is written, because `sealed` raises `TooLarge` instead.

The data are in a file beside the certificate if they hold too many numbers, or if `--data-file` is
given; the certificate then contains the name, size and SHA-256 of the file. The file is canonical
JSON if verify/checker can read it, otherwise an .npz of integers (attncert check --fast).
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import ARGUMENTS, Dataset
from attncert.constructions.layer import LAYER_BLOCK, Head, Layer
from attncert.constructions.numerals import numeral
from attncert.verify.certificates.installed import version
from attncert.verify.features.features import logit_table
from attncert.verify.features.tables import ranges

# Caps of the checker (docs/certificate.md); the checker imports nothing from here, and a test
# compares the two.
MAX_FILE_BYTES, MAX_ITEMS = 2**28, 2**23  # an item is a comma or an opening bracket
MAX_DIGITS = 500_000  # digits of a numerator or denominator
LIMIT_SECONDS, LIMIT_MIB = 600.0, 2048.0  # the limits of a check

# Keys of every certificate; a key that the claim does not use is null.
NOTHING = {"format": "attncert/3", "saturation": None, "origin": None, "data_file": None,
           "tokens": None}  # fmt: skip
INSIDE = 2**22  # the largest number of data entries inside a certificate
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
_DIGEST = len(',"digest":""') + 64  # the bytes that `sealed` adds to the file; one item


class TooLarge(Exception):
    """A certificate would exceed a cap of the checker; the message is a clause with the reason."""


class DataFile(dict[str, Any]):
    """The certificate's entry for the data file (`name`, `bytes`), and the content of the file."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(name=name, bytes=len(content))
        self.content = content

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def certificate(
    data: Dataset,
    layer: Layer,
    groups: Sequence[Sequence[int]],
    *,
    construction: str,
    produced_by: Mapping[str, Any],
    value_width: int,
    prime: int | None = None,
    saturation: int | None = None,
    file: DataFile | None = None,
) -> Certificate:
    """The certificate of an interpolation or, if `prime` is given, of full rank modulo that prime.
    file: the data file, if there is one. Raises TooLarge.
    """
    _require_short(m for head in layer.heads for m in (head.key, head.query, head.value))
    claim = "interpolation" if prime is None else "full-rank"
    body = layer_body(
        claim, data, layer, unit="ln 2", construction=construction, provenance=produced_by,
        width=None if prime is None else value_width, file=file,
    )  # fmt: skip
    body["groups"] = [list(group) for group in groups]
    if prime is not None:
        body["rank"] = {"prime": numeral(prime), "value": data.T}
    if saturation is not None:
        body["saturation"] = {"bits": saturation, "own": False}
    return sealed(body)


def cost_of_checking(data: Dataset, layer: Layer, bits: int | None = None) -> tuple[float, float]:
    """An upper estimate, within a small factor, of the seconds and MiB needed to check this
    interpolation.

    The two largest terms (`interpolation` in verify/checker): for every example the softmax sums of
    all heads, which have R bits in total, are multiplied by the features and by one another. The
    products value·output, the labels and the terms of one example are held in memory. The estimate
    uses only sizes of numbers. bits: the length of a readout that has not been computed yet.
    """
    H, d, m = len(layer.heads), data.d, data.m
    contexts, labels = data.contexts.bits(), data.labels.bits()
    if bits is None:
        bits = _common_bits([h.value for h in layer.heads]) + _common_bits([layer.output])
    product = bits + 8
    sums = np.zeros((H, data.T))
    for h, head in enumerate(layer.heads):
        sums[h] = ranges(logit_table(head, data)).astype(np.float64)
    sums += data.longest.bit_length() + contexts
    R = sums.sum(axis=0)
    a, b = R / H + contexts, product + labels
    bit_products = (H * m * d * a * product + H * m * R * (a + product) + 2 * R * R
                    + 2 * m * (R + product) * b).sum()  # fmt: skip
    entries = data.T * H * (d * m * 1.2e-7 + (data.longest + d) * 1e-6)
    held = H * d * m * product + data.T * m * labels + float(R.max()) * (d + 2 * m + 8)
    return 2e-12 * float(bit_products) + float(entries), held / 7.5 / 2**20


def _common_bits(matrices: Sequence[fmpq_mat | None]) -> int:
    """The bits of the longest entry if all entries are written over one denominator."""
    known = [m for m in matrices if m is not None]
    entries = [x for m in known for x in m.entries()]
    common = math.lcm(*(int(m.numer_denom()[1]) for m in known))
    longest = max(int(x.p).bit_length() - int(x.q).bit_length() for x in entries)
    return max(longest, 0) + common.bit_length()


class Certificate(dict[str, Any]):
    """The content of the file as a dictionary. Its repr shows the claim without the numbers."""

    def __repr__(self) -> str:
        return in_brief(self, self.get("claim"), digest=self.get("digest"), **self.get("dims", {}))


def sealed(body: Mapping[str, Any]) -> Certificate:
    """The certificate with its digest. Raises TooLarge if the checker would not read it."""
    text = canonical_bytes(body)
    require_readable(text)
    return Certificate({**body, "digest": hashlib.sha256(text).hexdigest()})


def require_readable(text: bytes) -> None:
    """Check a canonical body against the caps, before its digest is added. Raises TooLarge.

    >>> require_readable(b'{"labels":["' + b"1" * 500_001 + b'"]}')
    Traceback (most recent call last):
    attncert.verify.certificates.certificate.TooLarge: a number has 500,001 digits...
    """
    size = len(text) + _DIGEST
    if size > MAX_FILE_BYTES:
        raise TooLarge(f"the file has {size:,} bytes, and the checker reads {MAX_FILE_BYTES:,}")
    items = sum(map(text.count, (b",", b"[", b"{"))) + 1
    if items > MAX_ITEMS:
        raise TooLarge(f"the file has {items:,} items, and the checker reads {MAX_ITEMS:,}")
    if b"0" * (MAX_DIGITS + 1) in text.translate(_DIGITS_TO_ZERO):  # faster than a pattern
        digits = max(len(run.group()) for run in re.finditer(rb"[0-9]+", text))
        raise TooLarge(f"a number has {digits:,} digits, and the checker reads {MAX_DIGITS:,}")


def canonical_bytes(body: Mapping[str, Any]) -> bytes:
    """ASCII JSON with sorted keys and without whitespace, so that equal contents give identical
    bytes."""
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")


def _require_short(matrices: Iterable[fmpq_mat | None]) -> None:
    """Raise TooLarge before writing numbers that take more bytes than a file may have."""
    bits = 0
    for matrix in matrices:
        for x in matrix.entries() if matrix is not None else ():
            bits += x.p.bit_length() + x.q.bit_length()
    if bits * 0.3 > MAX_FILE_BYTES:  # 0.301 digits per bit
        size = f"about {int(bits * 0.301):,} digits"
        raise TooLarge(f"its numbers have {size}, and the checker reads {MAX_FILE_BYTES:,} bytes")


def strings(matrix: fmpq_mat) -> list[list[str]]:
    """The rows as strings "p" or "p/q" in lowest terms."""
    return [[numeral(x) for x in row] for row in matrix.tolist()]


def envelope(
    claim: str,
    stored: Dataset,
    *,
    construction: str,
    provenance: Mapping[str, Any],
    file: DataFile | None = None,
) -> dict[str, Any]:
    """The keys that a certificate has for every claim about examples. stored: the data. file: the
    data file, if there is one. provenance: from `produced_by`."""
    return NOTHING | {
        "claim": claim,
        "construction": construction,
        "dims": {
            "examples": stored.T,
            "context": stored.longest,
            "width": stored.d,
            "labels": stored.m,
        },
        "data": stored.canonical() if file is None else None,
        "data_file": file,
        "tokens": stored.token_counts,
        "origin": stored.origin.keys,
        "produced_by": dict(provenance),
        "input_sha256": stored.sha256 if file is None else file.sha256,
    }


def layer_body(
    claim: str,
    data: Dataset,
    layer: Layer,
    *,
    unit: str,
    width: int | None = None,
    **about: Any,
) -> dict[str, Any]:
    """The certificate of a claim about a layer. about: further arguments for `envelope`.

    unit: the unit of the logits, "1" or "ln 2". width: the width of the values if the claim is only
    about keys and queries, so that neither values nor output is written.
    """
    body = envelope(claim, data.origin.stored(data), **about)
    body["dims"] |= {
        "width": data.d,
        "heads": len(layer.heads),
        "head_width": layer.head_width,
        "value_width": layer.value_width if width is None else width,
    }
    heads, output = [_head(head, width is None) for head in layer.heads], None
    if width is None:
        output = strings(layer.output)
    block = {**LAYER_BLOCK, "logit_unit": unit, "heads": heads, "output": output}
    return body | {"network": [*data.origin.blocks, block]}


def _head(head: Head, readout: bool) -> dict[str, Any]:
    value = strings(head.value) if readout else None
    return {"key": strings(head.key), "query": strings(head.query), "value": value}


def produced_by(command: str, seed: int) -> dict[str, Any]:
    """The provenance in a certificate, without paths or times."""
    return {"version": version("attncert"), "command": command, "seed": seed}


def data_file(data: Dataset, always: bool = False) -> DataFile | None:
    """The data file of a certificate; None if the certificate contains the data (at most INSIDE
    numbers). always: return a file even then. Raises TooLarge if no checker would read the file.

    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1]], [5, "1/3"])
    >>> data_file(data), data_file(data, always=True)
    (None, {'name': 'certificate-data.json', 'bytes': 93})
    """
    data = data.origin.stored(data)
    arrays = {argument: getattr(data, argument) for argument in ARGUMENTS[:2]}
    arrays |= {"labels": data.stated} if data.stated is not None else {}
    numbers = sum(array.stored.size for array in arrays.values())
    if numbers <= INSIDE or data.origin.inputs is not None:
        if not always:
            return None
        text = canonical_bytes(data.canonical())
        require_readable(text)
        return DataFile("certificate-data.json", text)
    if data.ragged:
        raise TooLarge(f"the data have {numbers:,} numbers, in contexts of different lengths")
    if any(array.denominator > 1 or array.stored.dtype == object for array in arrays.values()):
        raise TooLarge(f"the data have {numbers:,} numbers, not all of them 64-bit integers")
    out = io.BytesIO()
    np.savez(out, **{name: array.stored for name, array in arrays.items()})
    return DataFile("certificate-data.npz", out.getvalue())
