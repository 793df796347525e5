"""What saturation, ReLUs and long numbers buy on these data: sentences read off the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attncert.reports.words.numbers import real, size
from attncert.verify.network.compare import Comparison, Entry

LONG = "bits"  # the construction that trades long numbers for parameters
_COSTS = {"parameters": "parameters", "bits in all": "bits"}


def sentences(answer: Comparison) -> Iterator[str]:
    """Each only where there are constructions to compare, exact on all examples."""
    exact = [entry for entry in answer.rows if entry.exact]
    layers = [x for x in exact if x.network is None]
    networks = [x for x in exact if x.network and x.method.name != LONG]
    alone, relus = _least("parameters", layers), _least("bits in all", networks)
    if alone:
        yield f"Attention alone takes {_words(alone)}{_saturation(layers)}."
    else:
        yield "No construction of a layer of attention alone memorizes these examples."
    if alone and relus:
        yield f"ReLUs or thresholds, in the shortest network, buy {_bought(relus, alone)}."
    if relus and (long := next((x for x in exact if x.method.name == LONG), None)):
        start = answer.cheaper_from(long, relus)
        later = "" if start is None else f"; by formula fewer parameters from T about {start:,}"
        yield f"Long numbers buy {_bought(long, relus)}{later}."


def _saturation(layers: list[Entry]) -> str:
    """The cheapest layer with heads that saturate against the cheapest without."""
    steered = _least("parameters", (x for x in layers if x.steered))
    free = _least("parameters", (x for x in layers if not x.steered))
    return f"; saturation buys {_bought(steered, free)}" if steered and free else ""


def _words(entry: Entry) -> str:
    bits = f" and {size(entry.costs['bits in all'])} bits" if entry.written else ""
    return f"{size(entry.costs['parameters'])} parameters{bits} ({entry.method.name})"


def _bought(first: Entry, second: Entry) -> str:
    """In which costs the first is below the second, and all ratios."""
    known = {k: word for k, word in _COSTS.items() if k in first.costs and second.costs.get(k)}
    ratios = {word: first.costs[k] / second.costs[k] for k, word in known.items()}
    fewer = " and ".join(f"fewer {word}" for word, ratio in ratios.items() if ratio < 1)
    parts = " and ".join(f"{_times(ratio)} the {word}" for word, ratio in ratios.items())
    parts = parts if first.written else f"at most {parts}"
    names = f"{first.method.name} has {parts} of {second.method.name}"
    return f"{fewer or 'nothing in this table'}: {names}"


def _times(ratio: float) -> str:
    return f"{real(ratio)} times" if ratio >= 1 else f"1/{real(1 / ratio)} of"


def _least(cost: str, entries: Iterable[Entry]) -> Entry | None:
    return min((x for x in entries if x.costs.get(cost)), key=lambda x: x.costs[cost], default=None)
