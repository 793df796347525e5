"""What the log of a run may say: the header that its settings make, and results that can be so.

A log comes from another machine, or was edited; its checksums say nothing of who wrote it. So the
header must be the one that its own settings give: the cut into shards and the digest of the first
draws are computed anew (`Sampler`, `BasisSearch`). Each result has the keys of its kind, counts
that add up to the items of its shard, and a witness where, and only where, there must be one.

A witness is the one thing in a log that can be verified without doing the shard again: with the
vectors at hand each relation is checked over Q, and nothing is taken from a log with a false one.
The counts are the word of whoever wrote the log: no reader can tell 63 of 64 from 64 of 64.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from attncert.constructions.data.conversion import describe
from attncert.verify.installed import version
from attncert.verify.kruskal.dependency import Dependency
from attncert.verify.kruskal.sampling.all_sets import SETS, AllSets, is_sets, kind_of, sizes
from attncert.verify.kruskal.sampling.bases import BASES, BasisSearch
from attncert.verify.kruskal.sampling.subsets import PREFIXES, SUBSETS, Sampler, table_sha256
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.scale.log import Judge, Rules, Unfit
from attncert.verify.scale.shards import Identity, Plan, Result, Shard

_MOST = 10**9  # items of a plan, as in `Question`
_MOST_VECTORS = 2**24  # to draw from where the vectors are not at hand: 128 MiB
_MOST_NUMBERS = 2**31  # no file of vectors that is read has more
_KEYS = {
    SUBSETS: {"independent", "dependent", "undecided", "witness"},
    PREFIXES: {"lengths", "witness"},
    BASES: {"bases", "witness"},
    SETS: {"settled", "looked at", "false alarms", "primes", "witness"},
}
_MOST_SEEN = 2**63  # sets looked at again: the kernels count so far
_WHOLE = re.compile("0|[1-9][0-9]{0,9}")
_COEFFICIENT = re.compile("-?[1-9][0-9]*")


def rules(vectors: Vectors | None) -> Rules:
    """The rules for logs of `attncert kruskal`; without the vectors no witness is verified."""
    given = None if vectors is None else table_sha256(vectors.array)

    def judge_of(identity: Identity, plans: tuple[Plan, ...]) -> Judge:
        settings = identity["settings"]
        if given not in (None, identity["input_sha256"]):
            raise Unfit(f"of the vectors given (SHA-256 {given})", identity["input_sha256"])
        _require_header(identity, plans, _MOST_VECTORS if vectors is None else vectors.N)
        named = settings[plans[0].kind]
        shape = named["vectors"], named["width"]
        if vectors is not None and shape != vectors.array.shape:
            raise Unfit(f"of {vectors.N} vectors of width {vectors.d}", "{} of {}".format(*shape))

        @cache  # many shards show the same circuit
        def holds(witness: Dependency) -> bool:
            reduced = Dependency.of(witness.indices, witness.coefficients)
            return witness == reduced and witness.holds(vectors)

        def judge(shard: Shard, result: Result) -> None:
            _require_result(shard, result, settings[shard.kind])
            if vectors is None or result["witness"] is None:
                return
            _require_short(result["witness"], vectors)
            if not holds(Dependency.from_dict(result["witness"])):
                raise Unfit("a witness true of the vectors, in lowest terms", "a false one")

        return judge

    return judge_of


def _require_header(identity: Identity, plans: tuple[Plan, ...], most: int) -> None:
    """The header is what a run of this version writes, given its settings."""
    ours, settings = version("attncert"), identity["settings"]
    if identity["version"] != ours:
        raise Unfit(f"of version {ours}, like this program", identity["version"])
    kinds = [plan.kind for plan in plans]
    drawn = [kind for kind in kinds if kind in (SUBSETS, PREFIXES)]
    searched = [kind for kind in kinds if is_sets(kind)]
    order = [*drawn, *(kind for kind in (BASES,) if kind in kinds), *searched]
    if len(drawn) > 1 or not kinds or kinds != order:
        raise Unfit(f"of {SUBSETS} or {PREFIXES}, {BASES} and {SETS}, in this order", kinds)
    if not re.fullmatch("[0-9a-f]{64}", identity["input_sha256"]):
        raise Unfit("of vectors named by their SHA-256", identity["input_sha256"])
    for plan in plans:
        _require_settings(plan, settings[plan.kind], most)
    values = settings[kinds[0]]
    whole = list(map(kind_of, sizes(values["vectors"], values["width"])))
    if searched not in ([], [SETS], whole):
        raise Unfit(f"of {SETS}, or of all of {whole}", searched)
    if len({(values["vectors"], values["width"]) for values in settings.values()}) != 1:
        raise Unfit("of one set of vectors", "of two sizes")


def _require_settings(plan: Plan, values: Mapping[str, Any], most: int) -> None:
    names: dict[str, type] = {"vectors": int, "width": int}
    if plan.kind != BASES:
        names |= {"k": int, "method" if is_sets(plan.kind) else "draws": str}
    if {name: type(x) for name, x in values.items()} != names:
        raise Unfit(f"{plan.kind} with the settings {', '.join(names)}", dict(values))
    N, d = values["vectors"], values["width"]
    if not (0 < N <= most and d > 0 and N * d <= _MOST_NUMBERS):
        raise Unfit(f"of at most {most:,} vectors, {_MOST_NUMBERS:,} numbers", f"{N} of width {d}")
    if not (1 <= plan.count <= _MOST and 0 <= plan.seed < 2**63):
        raise Unfit(f"of 1 to {_MOST:,} {plan.kind}, from a seed below 2^63", plan.as_dict())
    if plan.kind == BASES:
        search = BasisSearch(N, d, plan.count)
        written, settings = search.plan(plan.seed), search.settings()
    elif is_sets(plan.kind):
        if not 3 <= values["k"] <= min(N, d):
            raise Unfit(f"of a k from 3 to {min(N, d)}", values["k"])
        kind = SETS if plan.kind == SETS else kind_of(values["k"])
        sets = AllSets("", N, d, values["k"], kind=kind)
        written, settings = sets.plan(plan.seed), sets.settings()
    else:
        k, rank = values["k"], min(N, d)
        if not (k == rank if plan.kind == PREFIXES else 1 <= k <= rank):
            raise Unfit(f"of a k from 1 to {rank}, in a sweep {rank}", k)
        sampler = Sampler(plan.kind, k, "", N, d, plan.count)
        written, settings = sampler.plan(plan.seed), sampler.settings(plan.seed)
    if (written, settings) != (plan, values):
        wanted = {**written.as_dict(), **settings}
        raise Unfit(f"what a run with its settings writes, {wanted}", {**plan.as_dict(), **values})


def _require_result(shard: Shard, result: Result, settings: Mapping[str, Any]) -> None:
    """The keys of its kind, counts that add up to the items of the shard, a witness of fit size."""
    kind, items = SETS if is_sets(shard.kind) else shard.kind, shard.stop - shard.start
    if set(result) != _KEYS[kind]:
        raise Unfit(f"{kind} with {', '.join(sorted(_KEYS[kind]))}", sorted(result))
    if kind == SETS:
        _require_sets(shard, result, settings)
        return
    if kind == PREFIXES:
        lengths, k = result["lengths"], settings["k"]
        names = lengths if type(lengths) is dict else [""]
        if not all(_WHOLE.fullmatch(name) and int(name) <= k for name in names):
            raise Unfit(f"lengths from 0 to {k}, each with a count", describe(lengths))
        counts = list(lengths.values())
    else:
        counts = [result[name] for name in sorted(_KEYS[kind] - {"witness"})]
    if not all(type(n) is int and n >= 0 for n in counts) or sum(counts) != items:
        raise Unfit(f"of counts that add up to {items}, the {kind} of the shard", "others")
    largest = min(settings["vectors"], settings["width"])
    if kind == SUBSETS:
        largest = settings["k"] if result["dependent"] else 0
    elif kind == PREFIXES:  # the vector after the shortest prefix ends it, if one is left
        shortest = min(int(name) for name, count in result["lengths"].items() if count)
        largest = shortest + 1 if shortest < settings["k"] else 0
    if result["witness"] is not None:
        _require_witness(result["witness"], settings["vectors"], largest)
    elif kind == SUBSETS and result["dependent"]:
        raise Unfit("with a witness where subsets are dependent", "without")


def _require_sets(shard: Shard, result: Result, settings: Mapping[str, Any]) -> None:
    """All of the shard is settled or nothing; primes where it is, and a witness only where it is
    settled by one."""
    pieces, witness, primes = shard.stop - shard.start, result["witness"], result["primes"]
    if type(result["settled"]) is not int or result["settled"] not in (0, pieces):
        raise Unfit(f"settled as a whole ({pieces}) or not (0)", describe(result["settled"]))
    for name in ("looked at", "false alarms"):
        if type(result[name]) is not int or not 0 <= result[name] < _MOST_SEEN:
            raise Unfit(f"with a number of {name}", describe(result[name]))
    allowed = AllSets("", settings["vectors"], settings["width"], settings["k"]).primes()
    proved = result["settled"] > 0 and witness is None
    lists = [list(pair) for pair in ([] if proved else [()]) + allowed]
    if type(primes) is not list or {*map(type, primes)} - {int} or primes not in lists:
        raise Unfit(f"with the primes of a search, {lists[-1]}", describe(primes))
    if witness is not None:
        if not result["settled"]:
            raise Unfit("without a witness where nothing is settled", "with one")
        _require_witness(witness, settings["vectors"], settings["k"])


def _require_witness(value: Any, vectors: int, largest: int) -> None:
    """A relation as `Dependency.as_dict` writes it, between at most `largest` vectors."""
    if type(value) is not dict or set(value) != {"indices", "coefficients"}:
        raise Unfit("a witness with indices and coefficients", describe(value))
    indices, coefficients = value["indices"], value["coefficients"]
    if not type(indices) is type(coefficients) is list or len(indices) != len(coefficients):
        raise Unfit("a witness with as many indices as coefficients", "another")
    if not 1 <= len(indices) <= largest:
        raise Unfit(f"a witness of at most {largest} vectors here", len(indices))
    whole = all(type(i) is int for i in indices)
    if not whole or not -1 < indices[0] <= indices[-1] < vectors or not _increasing(indices):
        raise Unfit(f"a witness of increasing indices from 0 to {vectors - 1}", "of others")
    if not all(type(c) is str and _COEFFICIENT.fullmatch(c) for c in coefficients):
        raise Unfit("a witness of nonzero integers as texts", "of others")


def _require_short(witness: Mapping[str, Any], vectors: Vectors) -> None:
    """No coefficient is longer than a circuit of these vectors can have: nothing is computed with
    numbers of millions of digits that a log may hold.

    The coefficients of a circuit, reduced, divide minors of its rows (Cramer), and a minor is at
    most the product of the Euclidean norms of its rows (Hadamard): norm <= sqrt(d) max |entry|.
    """
    rows = vectors.rows(witness["indices"]).tolist()
    largest = [max(abs(int(x)) for x in row).bit_length() for row in rows]
    bits = sum(largest) + len(rows) * vectors.d.bit_length() // 2 + 1
    most = 2 + bits * 302 // 1000  # log10(2) < 0.302; a sign, and a digit begun
    longest = max(map(len, witness["coefficients"]))
    if longest > most:
        raise Unfit(f"a witness of at most {most} digits, as these vectors have", longest)


def _increasing(values: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(values))
