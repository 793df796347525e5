"""What is fuzzed: each parser of files, its valid seeds, and what no input may do to it.

A target takes bytes and returns one word for what became of them. It raises `Finding` where the
parser does what none may (`fuzz_measure`): another exception than its own refusal, more than one
line, more time or memory than it may take; or a verdict "holds" on what the independent judge does
not find true. Logs and names have their targets in `fuzz_foreign`, two
layers in `first_layers`.
"""

from __future__ import annotations

import atexit
import io
import json
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import first_layers
from support import fuzz_foreign as foreign
from support import fuzz_weights as weights
from support.certificate_judge import judgement
from support.data_files import VALID, archive, json_text, zipped
from support.file_strategies import certificates, mutants, mutated, nudged
from support.fuzz_measure import Finding, bounded, loaded, timed
from support.labelling_cases import CASES as LABELLING
from support.labelling_cases import case as labelling_case
from support.near_cases import case as near_case
from support.near_judge import near_judgement
from support.small_certificates import (
    CASES,
    Certificate,
    as_second,
    changed,
    digested,
    layer_certificate,
    sealed,
)

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.loading import load, read_npz
from attncert.verify import checker
from attncert.verify.fast import check as fast
from attncert.verify.kruskal.vectors import load_vectors
from attncert.verify.rank.primes import PRIMES_FLOAT64

WORK_LIMIT = 2.0  # seconds of estimated work that the checkers are allowed
NEAR_SMALL = [near_case(name) for name in ("distinct", "shared", "one token", "wide values")]
NEAR_SMALL.append(as_second(near_case("shared")))
LABELLING_SMALL = [
    changed(labelling_case(name), "rank.prime", str(PRIMES_FLOAT64[0])) for name in LABELLING
]
LABELLING_SMALL.append(as_second(LABELLING_SMALL[0]))
CUT = b"\n--8<--\n"  # between the arrays of the target "npz-arrays"


@dataclass(frozen=True)
class Target:
    """run: bytes to a word. seeds: valid files. tokens: what mutations may insert."""

    run: Callable[[bytes], str]
    seeds: Callable[[], list[bytes]]
    tokens: tuple[str, ...] = ()


# Data sets.


def is_data_set(found: Dataset) -> bool:
    return found.T >= 1 and len(found.sha256) == 64 and is_name(found.name)


def is_name(name: str) -> bool:
    """Fit for a folder, a screen, a page: no path, no markup, nothing that is not ASCII."""
    return re.fullmatch(r"\w(?:[\w.-]{0,62}\w)?", name, re.ASCII) is not None


def json_data(content: bytes) -> str:
    path = _scratch("data.json", content)
    return timed(lambda: loaded(lambda: load(path), is_data_set))


def npz_data(content: bytes) -> str:
    path = _scratch("data.npz", content)
    return timed(lambda: loaded(lambda: load(path), is_data_set))


def npz_arrays(content: bytes) -> str:
    """Three arrays, put in an archive whose check sums and directory are right."""
    contexts, queries, labels = [*content.split(CUT), b"", b"", b""][:3]
    file = zipped(contexts=contexts, queries=queries, labels=labels)
    return timed(lambda: loaded(lambda: read_npz(file), is_data_set))


def vectors_file(content: bytes) -> str:
    """Vectors, in JSON or an archive."""
    path = _scratch(f"vectors{weights.suffix(content)}", content)
    return timed(
        lambda: loaded(
            lambda: load_vectors(path), lambda found: found.N >= 1 and is_name(found.name)
        )
    )


def vectors_seeds() -> list[bytes]:
    file = io.BytesIO()
    np.savez(file, vectors=np.eye(2), other=np.ones(3))
    texts = [{"vectors": [[1, "1/2"], [0.5, 3]]}, {"vectors": [[1]], "name": "one"}, VALID]
    return [file.getvalue(), archive().getvalue(), *(json.dumps(x).encode() for x in texts)]


def json_seeds() -> list[bytes]:
    shared = {"contexts": [[[1, "-2/3"], [0.5, 4]]], "queries": [[1, 2]], "labels": [[7, "1/9"]]}
    big = {"contexts": [[10**40]], "queries": [[1e-300], [5e-324]], "labels": [0, -1], "name": "é"}
    apart = {"contexts": [[[1]], [[2]]], "queries": [["3"], [4.0]], "labels": [[1], [2]]}
    unnamed, deep = {**shared, "name": 5}, {**shared, "labels": [[[[[[[[[[1]]]]]]]]]]}
    cases = (shared, big, apart, unnamed, deep)
    return [json_text(), *(json.dumps(x).encode() for x in cases), b"[]", b"\xef"]


def npz_seeds() -> list[bytes]:
    small = {key: np.array(value, dtype=np.int8) for key, value in VALID.items()}
    packed = io.BytesIO()
    np.savez_compressed(packed, **small)
    halves = archive(queries=np.array(VALID["queries"], dtype=np.float16) / 3)
    return [archive().getvalue(), packed.getvalue(), halves.getvalue(), zipped().getvalue()]


def array_seeds() -> list[bytes]:
    out = []
    for kind in ("<i8", ">f8", "<f2", "|u1", "<i4", "<u8"):
        arrays = [np.array(VALID[key], dtype=kind) for key in ("contexts", "queries", "labels")]
        if kind == "<u8":
            arrays[0][0, 0] = 2**64 - 1  # beyond int64
        files = [io.BytesIO() for _ in arrays]
        for file, array in zip(files, arrays, strict=True):
            np.save(file, np.asfortranarray(array) if kind == "<f2" else array)
        out.append(CUT.join(file.getvalue() for file in files))
    return out


# Certificates.


def certificate(content: bytes) -> str:
    """The checker, on the file as it is and with both digests computed afresh."""
    return _verdicts(content, checker.check_file)


def fast_certificate(content: bytes) -> str:
    """The fast check, likewise."""
    return _verdicts(content, fast.check_file)


def both_verdicts(content: bytes) -> str:
    """Both checkers of interpolation-near, or of every-labelling, likewise."""
    exact, quick = (_verdicts(content, check) for check in reversed(CHECKS))
    return exact if exact == quick else f"{exact}, fast {quick}"


def mutant(content: bytes, strategy: Any) -> str:
    """The same bytes as the choices of a hypothesis strategy."""
    _WORDS.clear()
    strategy.hypothesis.fuzz_one_input(content)
    return _WORDS[-1] if _WORDS else "too short"


def _verdicts(content: bytes, check: Callable[..., checker.Verdict]) -> str:
    words = [judged(file, check) for file in (content, *_resealed(content))]
    return words[-1]


def _resealed(content: bytes) -> Iterator[bytes]:
    try:
        value = json.loads(content)
        if isinstance(value, dict):
            yield json.dumps(sealed(value)).encode()
    except (ValueError, RecursionError):
        return


def judged(content: bytes, check: Callable[..., checker.Verdict]) -> str:
    """The status of the verdict; Finding where "holds" is not true, or the message is no line."""
    path = _scratch("certificate.json", content)
    found: list[checker.Verdict] = []

    def run() -> str:
        found.append(check(str(path), WORK_LIMIT))
        return found[0].status

    status = timed(run)
    if status not in checker.EXIT or not found[0].message.isprintable():
        raise Finding(f"not one clear line: {status} {found[0].message!r}")
    if status == "holds":
        value = json.loads(content)
        near = value["claim"] == "interpolation-near"
        truth = near_judgement(value) if near else judgement(value)
        if truth is False or digested(sealed(value)) != value:
            raise Finding("accepted, but not true")
        if truth is None:
            return "holds, beyond the judge"
    return status


_WORDS: list[str] = []


@settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(certificates() | mutants() | certificates().flatmap(mutated))
def _mutants(value: Any) -> None:
    """True ones of random shapes, and such with one to three changes of structure or numbers."""
    _judge_both(value)


@settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(NEAR_SMALL).flatmap(lambda x: mutated(x) | nudged(x)))
def _near_mutants(value: Any) -> None:
    """With changes of structure, or one or two numbers nudged by 10^-30 to 10^3."""
    _judge_both(value)


@settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(LABELLING_SMALL).flatmap(lambda x: mutated(x) | nudged(x)))
def _labelling_mutants(value: Any) -> None:
    _judge_both(value)


def _judge_both(value: Any) -> None:
    content = json.dumps(sealed(value)).encode()
    _WORDS.extend(judged(content, check) for check in CHECKS)


CHECKS = (fast.check_file, checker.check_file)


def random_seeds() -> list[bytes]:
    """Bytes enough for some choices."""
    return [random.Random(i).randbytes(400) for i in range(20)]


def certificate_seeds() -> list[bytes]:
    return [json.dumps(make()).encode() for make in CASES.values()]


def seeds_of(small: list[Certificate]) -> list[bytes]:
    return [json.dumps(certificate).encode() for certificate in small]


def full_rank_seeds() -> list[bytes]:
    """With a 62-bit prime, more columns than rows to fold, and numbers beyond int64 too."""
    wide = layer_certificate("full-rank", T=2, n=1, d=80, H=1, prime=4611686018427377339, spread=1)
    long = changed(layer_certificate("full-rank"), "data.labels.0.0", "1" * 40)
    long = changed(long, "layer.heads.0.key.0.0", str(2**70))
    cases = [make() for name, make in CASES.items() if "full-rank" in name]
    return [json.dumps(case).encode() for case in (*cases, wide, long)]


def _scratch(name: str, content: bytes) -> Path:
    path = _SCRATCH / name
    path.write_bytes(content)
    return path


_SCRATCH = Path(tempfile.mkdtemp(prefix="attncert-fuzz-", dir=next(
    (shm for shm in ("/dev/shm",) if Path(shm).is_dir()), None)))  # fmt: skip
atexit.register(shutil.rmtree, _SCRATCH, ignore_errors=True)

_JSON = ('"contexts":', '"queries":', '"labels":', '"name"', "[[", "]]", "null", "NaN", "1e999",
         "-0.0", '"1/3"', "1E-400", "\\ud800", "true", "{}", "[]", ",", "1" * 40)  # fmt: skip
_ARRAY = ("<f8", "<i8", "|u1", "<f2", "|O", "True", "False", "(2, 2)", "(2,)", "(1, 2, 2)", "()",
          "(999999999, 9)", "\\x93NUMPY", "'descr': ", "PK\\x05\\x06", CUT.decode())  # fmt: skip
_CERTIFICATE = ('"0"', '"-1/2"', '"1/0"', "null", "[[", "]]", '"full-rank"', '"interpolation"',
                '"dependent-set"', '"key":', '"query":', '"value":', '"output":', '"rank":', "1e9",
                '"prime":', '"3"', '"7"', "8388608", '"' + "9" * 60 + '"')  # fmt: skip

_NEAR = (*_CERTIFICATE, '"radius":', '"unknowns":', '"inverse":', '"1/1000"', '"1"', "0", "-1")
_NAME = (
    "../",
    "/",
    "\\x1b[",
    "\\n",
    "$",
    "\\xe2\\x80\\xae",
    "|",
    "`",
    "<",
    "\\x00",
    "\\xed\\xa0\\x80",
)

_TARGETS = {
    "json": Target(json_data, json_seeds, _JSON),
    "npz": Target(npz_data, npz_seeds, _ARRAY),
    "npz-arrays": Target(npz_arrays, array_seeds, _ARRAY),
    "layer": Target(
        partial(weights.layer_file, scratch=_SCRATCH),
        weights.layer_seeds,
        (*_CERTIFICATE, "W_K", "W_O", "float32"),
    ),
    "mask": Target(
        partial(weights.mask_file, scratch=_SCRATCH),
        weights.mask_seeds,
        (*_ARRAY, '"mask":', "true", "false", "[[", "]]"),
    ),
    "state": Target(
        partial(weights.state_dict, scratch=_SCRATCH), weights.state_seeds, weights.STATE
    ),
    "property": Target(
        partial(weights.property_file, scratch=_SCRATCH), weights.property_seeds, weights.PROPERTY
    ),
    "vectors": Target(vectors_file, vectors_seeds, (*_JSON, '"vectors":')),
    "certificate": Target(certificate, certificate_seeds, _CERTIFICATE),
    "fast-check": Target(fast_certificate, full_rank_seeds, _CERTIFICATE),
    "mutants": Target(partial(mutant, strategy=_mutants), random_seeds),
    "near": Target(both_verdicts, partial(seeds_of, NEAR_SMALL), _NEAR),
    "near-mutants": Target(partial(mutant, strategy=_near_mutants), random_seeds),
    "labelling": Target(both_verdicts, partial(seeds_of, LABELLING_SMALL), _CERTIFICATE),
    "labelling-mutants": Target(partial(mutant, strategy=_labelling_mutants), random_seeds),
    "first-layer": Target(
        partial(first_layers.pair, scratch=_SCRATCH),
        first_layers.pair_seeds,
        (*_CERTIFICATE, '"second":', '"heads":', first_layers.CUT.decode()),
    ),
    "first-layer-mutants": Target(
        partial(first_layers.pair_mutant, scratch=_SCRATCH), random_seeds
    ),
    "name": Target(partial(foreign.name_in_file, scratch=_SCRATCH), foreign.name_seeds, _NAME),
    "file-name": Target(partial(foreign.file_name, scratch=_SCRATCH), foreign.name_seeds, _NAME),
}
TARGETS = {name: replace(target, run=bounded(target.run)) for name, target in _TARGETS.items()}
