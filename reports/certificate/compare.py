"""Two certificates side by side: the same data? the same claim? and what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attncert.constructions.errors import InputError
from attncert.constructions.foreign import printable
from attncert.reports.certificate.claims import listed, short
from attncert.reports.certificate.explain import MALFORMED, Explanation, origins


@dataclass(frozen=True)
class Difference:
    """One thing in which two certificates may differ, in words for both."""

    what: str
    same: bool
    first: str
    second: str


def compared_text(first: Explanation, second: Explanation, found: list[Difference]) -> list[str]:
    """Lines for a terminal: both verdicts, what is shared on the whole, every part left | right."""
    lines = [
        f"{side}: {printable(one.file, 200)}: {one.claim}; {one.status}: {one.message}"
        for side, one in (("Left", first), ("Right", second))
    ]
    differ = [d.what for d in found if not d.same]
    data = "Same data" if same_data(first, second) else "Different data"
    claim = "same claim" if first.claim == second.claim else "different claims"
    lines += ["", f"{data}, {claim}; different: {', '.join(differ) or 'nothing'}.", ""]
    rows = [(d.what, *_cells(d)) for d in found]
    width, left = (max(len(row[k]) for row in [("", "left"), *rows]) for k in (0, 1))
    lines.append(f"{'':{width}}  {'left':{left}} | right")
    for what, a, b in rows:
        lines.append(f"{what:{width}}  " + (f"{a:{left}} | {b}" if b else a))
    return lines


def _cells(d: Difference) -> tuple[str, str]:
    """Left and right; where both have one answer (the places that differ), that alone."""
    if d.same or d.first == d.second:
        return "same" if d.same else d.first, ""
    return d.first, d.second


def same_data(first: Explanation, second: Explanation) -> bool:
    """Contexts, queries and labels (or vectors)."""
    return _same_data(first.certificate, second.certificate)


def _same_data(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """By the data themselves: a digest may be stale. By what is stated of them where neither file
    has its data at hand."""
    stated = ("data",) if first["data"] else ("data", "data_file", "input_sha256")
    return all(first.get(key) == second.get(key) for key in stated)


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    """What two certificates share and where they differ: claim, data, weights, origin.

    Raises InputError where a part is of another type (files that were not checked).
    """
    try:
        return _compare(first, second)
    except MALFORMED:
        got = "one with a part of another type"
        raise InputError("--compare", "attncert/1 certificates", got) from None


def _compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    out = [_difference("claim", first["claim"], second["claim"])]
    if _same_data(first, second):
        out.append(Difference("data", True, short(first["input_sha256"]), ""))
    else:
        left, right = (cert["data"] or {} for cert in (first, second))
        for key in sorted({*left, *right}):
            out.append(_table(key, left.get(key), right.get(key)))
    for name in sorted({*first["dims"], *second["dims"]}):
        a, b = first["dims"].get(name), second["dims"].get(name)
        if a != b:
            out.append(Difference(name.replace("_", " "), False, str(a), str(b)))
    if "layer" in first and "layer" in second:
        out += _layers(first["layer"], second["layer"])
    for key in ("relation", "rank", "groups", "near"):
        if key in first and key in second:
            out.append(_difference(key, first[key], second[key]))
    for key in ("format", "saturation", "rounding", "data_file"):
        if first.get(key) or second.get(key):
            out.append(_difference(key.replace("_", " "), first.get(key), second.get(key)))
    out.append(_difference("construction", first["construction"], second["construction"]))
    names = sorted({*origins(first), *origins(second)})
    for name in names:
        out.append(
            _difference(f"made by: {name}", origins(first).get(name), origins(second).get(name))
        )
    return out


def _difference(what: str, a: Any, b: Any) -> Difference:
    return Difference(what, a == b, short(printable(a)), short(printable(b)))


def _table(what: str, a: Any, b: Any) -> Difference:
    """Lists of examples: how many, and which differ."""
    if a == b:
        return Difference(what, True, "", "")
    if a is None or b is None or len(a) != len(b):
        size = ["none" if x is None else f"{len(x)} of them" for x in (a, b)]
        return Difference(what, False, *size)
    places = [t for t, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    where = f"{len(places)} of {len(a)} differ: {listed(places)}"
    return Difference(what, False, where, where)


def _layers(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Difference]:
    units = [layer["logit_unit"] for layer in (a, b)]
    out = [_difference("logit unit", *units)] if units[0] != units[1] else []
    for part in ("query", "key", "value"):
        if all(part in head for head in (*a["heads"], *b["heads"])):
            tables = [[head[part] for head in layer["heads"]] for layer in (a, b)]
            out.append(_table(f"{part} weights, by head", *tables))
    if "output" in a and "output" in b:
        out.append(_table("output weights", a["output"], b["output"]))
    return out
