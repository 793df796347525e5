"""A certificate as a theorem in Coq, written out with its data and checked by Coq's kernel.

The statement of the theorem is the one in verify/kernel/checker/Spec.v for the numbers in the file,
including their shapes. Its proof is one evaluation of the verified checker inside the kernel. This
module, which writes the numbers, is not verified: compare the statement with the file.
"""

from __future__ import annotations

import math
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attncert.constructions.errors import InputError
from attncert.constructions.exact.hashing import distinct
from attncert.verify.certificates.coq.executable import home
from attncert.verify.checker import LIMIT_MIB, LIMIT_SECONDS, Limits, Verdict, check_file, need
from attncert.verify.checker.claims import judge
from attncert.verify.checker.reading import integer

Number = tuple[int, int]
Matrix = list[list[Number]]
_LONGEST = 4000  # the most bits of a number written in decimal (except in an interpolation)
_WORD = 2**63


@dataclass(frozen=True)
class KernelCheck:
    """The result of coqc: names listed by Print Assumptions, CPU time and peak memory."""

    assumptions: tuple[str, ...]
    seconds: float
    mib: float


def instance(
    path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB
) -> tuple[Verdict, str | None]:
    """The verdict of the checker, and the theorem if the verdict is "holds". Raises InputError for
    numbers that are too long for Coq's own integers, and for claims that Spec.v does not state."""
    certificates: list[dict[str, Any]] = []

    def judged(cert: dict[str, Any], limits: Limits) -> str:
        outside = cert["data_file"] is not None
        need(not outside, "--kernel cannot read a certificate with a data_file")
        behind = "layer" in cert and len(cert["network"]) > 1
        need(not behind, "--kernel cannot read a layer after other blocks")
        listed = hasattr(cert["data"].get("contexts"), "table")
        need(not listed, "--kernel cannot read sequences")
        whole = cert["origin"] is not None and cert["origin"]["kind"] == "domain"
        need(not whole, "--kernel cannot read domains")
        certificates.append(cert)
        return judge(cert, limits)

    verdict = check_file(path, limit_seconds, limit_mib, judged)
    if verdict.status != "holds":
        return verdict, None
    if verdict.claim not in _THEOREMS:
        must = f"used for a claim that has instances in Coq: {', '.join(_THEOREMS)}"
        raise InputError("--kernel", must, str(verdict.claim))
    return verdict, theorem_of(certificates[0])


def check(text: str, target: Path) -> KernelCheck:
    """Write the theorem to `target` and run coqc on it.

    Raises InputError if the theory is not compiled or coqc does not accept the theorem.
    """
    folder = home()
    if shutil.which("coqc") is None or not (folder / "checker" / "words_sound.vo").is_file():
        raise InputError(
            "--kernel", "used after attncert kernel build", "without the compiled theory"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = ["-w", "none", "-R", str(folder / "theory"), "AttnCert"]
    options += ["-R", str(folder / "checker"), "AttnCert"]
    run = subprocess.run(
        ["coqc", *options, str(target)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if run.returncode:
        last = run.stderr.strip().splitlines()[-1:] or [f"status {run.returncode}"]
        raise InputError("--kernel", "checked by coqc", f"refused: {last[0]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    names = [line.split(" ")[0] for line in run.stdout.splitlines() if line[:1].isalpha()]
    assumptions = tuple(name for name in names if "." in name)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return KernelCheck(assumptions, seconds, after.ru_maxrss / 1024)  # KiB on Linux


# The theorem for each claim.


def theorem_of(cert: dict[str, Any]) -> str:
    """The claim of the certificate, whether it is true or not, as a Coq file."""
    claim = cert["claim"]
    stated = [_THEOREMS[claim](cert), *_further(cert)]
    statement = " /\\\n  ".join(part.statement for part in stated)
    *first, proof = [f"({part.proof} _)" for part in stated]
    for earlier in reversed(first):
        proof = f"(conj {earlier} {proof})"
    text = "\n".join([_HEAD, *(part.definitions for part in stated), ""])
    text += f"Theorem holds :\n  {statement}.\nProof. refine {proof}; "
    text += "vm_cast_no_check (eq_refl true). Qed.\nEnd Certificate.\n"
    return text + "Print Assumptions Certificate.holds.\n"


_HEAD = """(* Written by attncert check --kernel. *)
From Coq Require ZArith List Uint63.
From Bignums Require BigZ.
Require Spec Certificate words words_sound verified.
Module Certificate.
Import ZArith List Uint63 BigZ Spec Certificate interpolation full_rank integers big_integers.
Import words words_sound verified.
Import ListNotations.
Local Notation value_of := (fun x : Z => x)."""


@dataclass(frozen=True)
class _Part:
    """A part of the theorem. proof: a lemma with the premise that an evaluation equals true."""

    definitions: str
    statement: str
    proof: str


def _interpolation(cert: dict[str, Any]) -> _Part:
    units = _units(cert)
    body = f"Open Scope uint63_scope.\nDefinition c : cert wnum := {_cert(cert, _word_frac)}.\n"
    body += f"Definition u : units wnum := Units {' '.join(map(_word, units))}."
    statement = "data_ok wval c /\\ readout_ok wval c /\\ interpolates wval c"
    return _Part(body, f"({statement})", "words_proved (umap big u) c")


def _full_rank(cert: dict[str, Any]) -> _Part:
    body = f"Open Scope Z_scope.\nDefinition c : cert Z := {_cert(cert, _decimal_frac)}.\n"
    body += f"Definition u : units Z := Units {' '.join(map(_decimal, _units(cert)))}."
    prime = _decimal(_number(cert["rank"]["prime"])[0])
    statement = "(data_ok value_of c /\\ full_rank value_of c)"
    return _Part(body, statement, f"full_rank_proved u {prime} c")


def _dependent_set(cert: dict[str, Any]) -> _Part:
    vectors, relation = _matrix(cert["data"]["vectors"]), cert["relation"]
    factors = _row(relation["coefficients"])
    N, d = cert["dims"]["vectors"], cert["dims"]["width"]
    body = f"""Open Scope Z_scope.
Definition vectors : mat Z := {_list(vectors, _decimal_frac)}.
Definition indices : list nat := [{"; ".join(f"{i}%nat" for i in relation["indices"])}].
Definition coefficients : vec Z := {_list(factors, _decimal_frac)}."""
    named = f"{N} {d} vectors indices coefficients"
    statement = f"(mat_ok value_of {N} {d} vectors /\\ dependent_set value_of {named})"
    units = f"{_decimal(_unit(vectors))} {_decimal(_unit([factors]))}"
    return _Part(body, statement, f"dependent_set_proved {units} {named}")


def _impossible(cert: dict[str, Any]) -> _Part:
    relation, data = _row(cert["relation"]), cert["data"]
    body = f"""Open Scope Z_scope.
Definition c : cert Z := {_cert(cert, _decimal_frac)}.
Definition relation : vec Z := {_list(relation, _decimal_frac)}."""
    contexts = [row for context in data["contexts"] for row in _matrix(context)]
    parts = [contexts, _matrix(data["queries"]), _matrix(data["labels"]), [relation]]
    counts = math.lcm(*(len(context) for context in data["contexts"]))
    units = " ".join([_decimal(counts), *(_decimal(_unit(part)) for part in parts)])
    statement = "(inputs_ok value_of c /\\ no_weights value_of c)"
    return _Part(body, statement, f"impossible_proved Z.gcd {units} relation c")


_THEOREMS: dict[str, Callable[[dict[str, Any]], _Part]] = {
    "interpolation": _interpolation,
    "full-rank": _full_rank,
    "dependent-set": _dependent_set,
    "impossible": _impossible,
}


def _further(cert: dict[str, Any]) -> list[_Part]:
    """Further statements of the certificate about the same numbers."""
    parts, words = list[_Part](), cert["claim"] == "interpolation"
    meaning = "wval" if words else "value_of"
    if (part := cert["saturation"]) is not None:
        groups = _list(cert["groups"], lambda t: f"{t}%nat")
        body = f"Definition s := Saturation {part['bits']}%Z {str(part['own']).lower()} {groups}."
        proof = "words_saturated (umap big u) s c" if words else "saturation_proved u s c"
        parts.append(_Part(body, f"saturates {meaning} s c", proof))
    if (part := cert["origin"]) is not None:
        written = _word_frac if words else _decimal_frac
        before, numbers = part["data"], (part["grid"], part["largest_change"])
        grid, change = (f"({written(_number(text))})" for text in numbers)
        contexts = _list([_matrix(context) for context in before["contexts"]], written)
        queries = _list(_matrix(before["queries"]), written)
        body = f"""Definition before_contexts := {contexts}.
Definition before_queries := {queries}.
Definition r := Rounding {grid} {change}
  (rows_beside before_queries (queries c) (contexts_beside before_contexts (contexts c) []))."""
        proof = "words_rounded r" if words else "rounding_proved r"
        parts.append(_Part(body, f"rounded {meaning} r", proof))
    return parts


def _cert(cert: dict[str, Any], written: Callable[[Number], str]) -> str:
    data, dims = cert["data"], list(cert["dims"].values())
    [layer] = cert.get("network", [{}])
    sizes = " ".join(f"{size}%nat" for size in [*dims, 0, 0, 0][:7])
    contexts = [_matrix(context) for context in data["contexts"]]
    heads = [
        "Head " + " ".join(_list(_matrix(head[part] or []), written) for part in _PARTS)
        for head in layer.get("heads", [])
    ]
    rest = _list(_matrix(layer.get("output") or []), written)
    inputs = [contexts, _matrix(data["queries"]), _matrix(data["labels"])]
    tables = "\n  ".join(_list(part, written) for part in inputs)
    return f"Cert {sizes}\n  {tables}\n  [{'; '.join(heads)}]\n  {rest}"


_PARTS = ("key", "query", "value")


def _units(cert: dict[str, Any]) -> list[int]:
    """Denominators of contexts, queries, key, query, value, output and labels, given as hints."""
    data, [layer] = cert["data"], cert["network"]
    contexts = [row for context in data["contexts"] for row in _matrix(context)]
    heads = [
        [row for head in layer["heads"] for row in _matrix(head[part] or [])] for part in _PARTS
    ]
    parts = [contexts, _matrix(data["queries"]), *heads, _matrix(layer["output"] or [])]
    return [_unit(part) for part in [*parts, _matrix(data["labels"])]]


# Numbers.


def _number(text: str) -> Number:
    p, _, q = text.partition("/")
    return integer(p), integer(q or "1")


def _row(texts: list[str]) -> list[Number]:
    return [_number(text) for text in texts]


def _matrix(rows: list[list[str]]) -> Matrix:
    return [_row(row) for row in rows]


def _unit(rows: Iterable[Iterable[Number]]) -> int:
    return math.lcm(*distinct(q for row in rows for _, q in row))


def _list(nested: Any, written: Callable[[Any], str]) -> str:
    if not isinstance(nested, list):
        return written(nested)
    return f"[{'; '.join(_list(part, written) for part in nested)}]"


def _word(x: int) -> str:
    """
    >>> _word(-(2**63 + 5)), _word(0)
    ('(Neg [5; 1])', '(Pos [])')
    """
    rest, words = abs(x), []
    while rest:
        words.append(str(rest % _WORD))
        rest //= _WORD
    return f"({'Neg' if x < 0 else 'Pos'} [{'; '.join(words)}])"


def _word_frac(x: Number) -> str:
    return f"Frac {_word(x[0])} {_word(x[1])}"


def _decimal(x: int) -> str:
    if x.bit_length() > _LONGEST:
        must = f"used for numbers of at most {_LONGEST} bits, or an interpolation"
        raise InputError("--kernel", must, f"a number of {x.bit_length()} bits")
    return f"({x})"


def _decimal_frac(x: Number) -> str:
    return f"Frac {_decimal(x[0])} {_decimal(x[1])}"
