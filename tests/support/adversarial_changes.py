"""Changes to true files for every claim of exact equality; some leave the claim true. Each changes
a number, rows, an example, sizes, the relation, the layer, words or bytes; or it is a mutant."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

from support import deep_cases, networks
from support import labelling_cases as labelling
from support.certificate_judge import judgement
from support.small_certificates import CASES, Certificate, rounded, sealed

Draw = random.Random


def true_files(claim: str) -> list[Certificate]:
    if claim == "network":
        return networks.rational(300, 50_000)
    if claim == "network-rank":
        return deep_cases.several()
    files = [file for make in CASES.values() if (file := make())["claim"] == claim]
    files = files or [labelling.with_small_prime(labelling.case(name)) for name in labelling.CASES]
    draw = random.Random(claim)
    if claim != "dependent-set":
        files += [rounded(file) for file in files if file["origin"] is None]
    while len(files) < 300:  # changed files whose claims are still true
        file = changed(draw, draw.choice(files))
        files += [file] * (judgement(file) is True)
    return files


def is_true(file: Certificate) -> bool:
    """Whether plain formulas show the claim to be true; True also if they cannot decide."""
    if file["claim"] == "network-rank":
        return True
    if file["claim"] != "network":
        return judgement(file) is not False
    with suppress(networks.Irrational):
        labels = [networks.vector(row) for row in file["data"]["labels"]]
        return networks.outputs(file["network"], file["data"]) == labels
    return True


def some(draw: Draw, file: Certificate, fits: Callable[[Any], bool]) -> tuple[Any, Any]:
    """The containers of these parts, with their keys."""
    parts = [x for x in ("data", "relation", "network", "groups", "rank") if x in file]
    places = [x for part in parts for x in networks.places(file[part], (part,))]
    *path, key = draw.choice([x for x in places if fits(networks.at(file, x))])
    return networks.at(file, tuple(path)), key


def numeral(x: Any) -> bool:
    return isinstance(x, str) and x[-1:].isdigit() and x[:2] != "ln"


def of_a_number(draw: Draw, file: Certificate) -> None:
    parent, key = some(draw, file, numeral)
    x, step = Fraction(parent[key]), draw.choice([1, 1, Fraction(1, 3), Fraction(1, 2**90), 10**20])
    parent[key] = str(draw.choice([x + step, x - step, -x, 2 * x, 0 * x]))


def of_a_text(draw: Draw, file: Certificate) -> None:
    """Another way to write the same number."""
    parent, key = some(draw, file, numeral)
    x, k = Fraction(parent[key]), draw.choice([1, 2, 10**30])
    parent[key] = f"{'-' * (x <= 0)}00{abs(x.numerator * k)}/{x.denominator * k}"


def of_rows(draw: Draw, file: Certificate) -> None:
    """Two rows are swapped, or a row replaces another, is left out or is repeated."""
    parent, key = some(draw, file, lambda x: isinstance(x, list) and len(x) > 0)
    rows, kind = parent[key], draw.random()
    i, j = draw.randrange(len(rows)), draw.randrange(len(rows))
    if kind < 0.9:
        rows[i], rows[j] = copy.deepcopy(rows[j]), rows[i] if kind < 0.5 else rows[j]
    else:
        rows[i : i + (kind < 0.95)] = [copy.deepcopy(rows[j])] * (kind >= 0.95)


def of_labels(draw: Draw, file: Certificate) -> None:
    """Two labels or vectors are swapped."""
    rows = file["data"].get("labels", file["data"].get("vectors"))
    i, j = draw.randrange(len(rows)), draw.randrange(len(rows))
    rows[i], rows[j] = rows[j], rows[i]


def of_obeying_labels(draw: Draw, file: Certificate) -> None:
    """One label is changed so that the labels obey the relation."""
    c, labels = [Fraction(x) for x in file["relation"]], file["data"]["labels"]
    t = draw.randrange(len(c))
    for j, column in enumerate(zip(*labels, strict=True)):
        total = sum(x * Fraction(y) for x, y in zip(c, column, strict=True))
        labels[t][j] = str(Fraction(labels[t][j]) - total / c[t])


def of_a_column(draw: Draw, file: Certificate) -> None:
    """The last entry of every label or vector is left out."""
    names = ["vectors", "width"] if "vectors" in file["dims"] else ["labels", "labels"]
    for row in file["data"][names[0]]:
        row.pop()
    file["dims"][names[1]] -= 1


def of_a_size(draw: Draw, file: Certificate) -> None:
    file["dims"][draw.choice(list(file["dims"]))] += draw.choice([-1, 1])


def by_example(file: Certificate) -> tuple[str, int, list[Any]]:
    """The names and the number of examples or vectors, and the lists with one item for each."""
    size = "vectors" if "vectors" in file["dims"] else "examples"
    lists = [*file["data"].values(), file.get("relation"), file.get("tokens")]
    T = file["dims"][size]
    return size, T, [x for x in lists if isinstance(x, list) and len(x) == T]


def of_an_example(draw: Draw, file: Certificate) -> None:
    """A vector is repeated, perhaps in place of another; the two may share their coefficient."""
    size, T, lists = by_example(file)
    s, t = draw.randrange(T), draw.choice([T, draw.randrange(T)])
    if isinstance(file.get("relation"), list) and draw.random() < 0.7:
        file["relation"][s] = str(Fraction(file["relation"][s]) / 2)
    for x in lists:
        x[t : t + 1] = [copy.deepcopy(x[s])]
    file["dims"][size] = max(T, t + 1)
    file.get("groups", [[]])[-1].extend([T] * (t == T))


def of_the_order(draw: Draw, file: Certificate) -> None:
    """Changes to examples, along with everything that belongs to them."""
    size, T, lists = by_example(file)
    order = draw.sample(range(T), T)
    for x in lists:
        x[:] = [x[i] for i in order]
    if size == "vectors" and draw.random() < 0.8:
        file["relation"]["indices"] = [order.index(i) for i in file["relation"]["indices"]]


def of_tokens(draw: Draw, file: Certificate) -> None:
    """The tokens of one or all examples are reordered or doubled, or one is removed, or their mean
    is added."""
    contexts, kind = file["data"]["contexts"], draw.randrange(4)
    for E in draw.choice([contexts, [draw.choice(contexts)]]):
        draw.shuffle(E)
        mean = [str(sum(map(Fraction, column)) / len(E)) for column in zip(*E, strict=True)]
        E += [[], copy.deepcopy(E), [], [mean]][kind]
        E[:] = E[1 if kind == 2 and len(E) > 1 else 0 :]
    counts = [len(E) for E in contexts]
    file["dims"]["context"] = max(counts)
    file["tokens"] = counts if len({*counts}) > 1 else None


def of_an_image(draw: Draw, file: Certificate) -> None:
    """Tokens are scaled and shifted; an added example with equal tokens makes the means cancel."""
    data, c = file["data"], file["relation"]
    t, _ = draw.sample(range(len(data["contexts"])), 2)  # not shared
    E, n = data["contexts"][t], Fraction(len(data["contexts"][t]))
    factor, shift = draw.choice([Fraction(1), n, n, 1 / n, Fraction(-1)]), draw.randint(-2, 2)
    means = [sum(map(Fraction, column)) / n for column in zip(*E, strict=True)]
    data["contexts"][t] = [[str(Fraction(x) * factor + shift) for x in row] for row in E]
    back = [str(n * (x - x * factor - shift)) for x in means]
    data["contexts"].append([list(back) for _ in E])
    for rows in (data["queries"], data["labels"]):
        rows.append(["0"] * len(rows[0]))
    c.append(str(Fraction(c[t]) / n))
    file["dims"]["examples"] += 1
    if file.get("tokens"):
        file["tokens"].append(len(E))


def times(numbers: list[str], factor: Fraction) -> list[str]:
    return [str(Fraction(x) * factor) for x in numbers]


def of_a_scale(draw: Draw, file: Certificate) -> None:
    """The relation is scaled; or a vector or an example is scaled and its coefficient divided."""
    factor, data = Fraction(draw.choice([-1, 2, Fraction(-2, 3), 10**9])), file["data"]
    listed = isinstance(file["relation"], dict)
    c = file["relation"]["coefficients"] if listed else file["relation"]
    t = draw.randrange(len(c))
    if draw.random() < 0.3:
        c[:] = times(c, factor)
        return
    c[t] = str(Fraction(c[t]) * factor)
    rows = [data["vectors"]] if listed else data["contexts"]
    rows = rows[t % len(rows)]
    of = [file["relation"]["indices"][t]] if listed else range(len(rows))
    for i in of:
        rows[i] = times(rows[i], 1 / factor)
    if not listed:
        data["queries"][t] = times(data["queries"][t], factor)


def of_the_indices(draw: Draw, file: Certificate) -> None:
    """One index is replaced by another, or one is added with the coefficient 0."""
    indices, other = file["relation"]["indices"], draw.randrange(-1, file["dims"]["vectors"] + 1)
    if draw.random() < 0.5:
        indices[draw.randrange(len(indices))] = other
    else:
        indices.append(other)
        file["relation"]["coefficients"].append("0")


WORDS: list[dict[str, Any]] = [
    *({"rule": "softmax", "logit_unit": unit} for unit in ("ln 2", "1")),
    *({"rule": rule, "logit_unit": None} for rule in ("hardmax", "linear")),
    *({"activation": word} for word in ("identity", "relu", "threshold")),
    *({"mask": word} for word in (None, "causal", [[1]], [[1, 0]], [[1], [1]], [[1, 0], [0, 1]])),
    *({"of": word} for word in ("query", "all", "row")),
    *({"residual": word} for word in (True, False)),
]


def of_a_word(draw: Draw, file: Certificate) -> None:
    block = draw.choice(file["network"])
    block |= copy.deepcopy(draw.choice([x for x in WORDS if x.keys() <= block.keys()]))


def of_true_labels(draw: Draw, file: Certificate) -> None:
    """The labels become the outputs of the network."""
    outputs = networks.outputs(file["network"], file["data"])
    file["data"]["labels"] = networks.as_text(outputs)


def of_the_heads(draw: Draw, file: Certificate) -> None:
    """Keys and queries are changed, but not the logits."""
    factor = draw.choice([Fraction(2), Fraction(-1, 3), Fraction(10**20)])
    for head in file["network"][-1]["heads"]:
        head["key"] = [times(row, factor) for row in head["key"]]
        head["query"] = [times(row, 1 / factor) for row in head["query"]]


def of_the_prime(draw: Draw, file: Certificate) -> None:
    file["rank"]["prime"] = draw.choice(["9", "5", "101", "10007", "10009", str(2**61 - 1)])


CHAINS = ["7 3", "23 11", "1439 719", "47 23 11", "23 11 5", "2879 1439 719", "1439 719 359"]


def of_the_chain(draw: Draw, file: Certificate) -> None:
    file["rank"] |= {"primes": draw.choice(CHAINS).split(), "slope": str(draw.randint(0, 12))}


Change = Callable[[Draw, Certificate], None]
CHANGES: list[Change] = [
    of_a_number, of_a_text, of_rows, of_labels, of_a_column, of_a_size, of_an_example, of_an_example
]  # fmt: skip
OF_CLAIM: dict[str, list[Change]] = {
    "dependent-set": [of_a_scale, of_the_order, of_the_indices],
    "impossible": [of_a_scale, of_the_order, *[of_tokens, of_an_image] * 2, of_obeying_labels],
    "network": [of_the_order, of_tokens, *[of_a_word, of_true_labels] * 2],
    "interpolation": [of_the_order, of_tokens, of_a_word, of_the_heads, of_true_labels],
    "full-rank": (ranked := [of_the_order, of_tokens, of_a_word, of_the_heads, of_the_prime]),
    "every-labelling": ranked,
    "network-rank": [of_the_order, of_tokens, of_a_word, *[of_the_chain] * 3],
}


def changed(draw: Draw, file: Certificate) -> Certificate:
    other = copy.deepcopy(file)
    for change in draw.choices(CHANGES + OF_CLAIM[file["claim"]], k=draw.choice([1, 2, 3])):
        with suppress(
            LookupError, ArithmeticError, ValueError, AssertionError, networks.Irrational
        ):
            change(draw, other)  # unless earlier changes left nothing to change
    return sealed(other)


def mutant(draw: Draw, file: Certificate) -> Certificate:
    """A relation replaces the network, or a rank replaces `near`."""
    names = {"relation": "network"} if "relation" in file else {"rank": "near"}
    other = networks.mutant({names.get(key, key): x for key, x in file.items()}, draw)
    back = {name: key for key, name in names.items()}
    return sealed({back.get(key, key): x for key, x in other.items()})


def of_bytes(draw: Draw, file: Certificate) -> Certificate | bytes:
    """Up to three changes, mostly with fresh digests if the result is still an object."""
    raw = bytearray(json.dumps(file).encode())
    for _ in range(draw.choice([1, 1, 2, 3])):
        i = draw.randrange(len(raw))
        other = [b"", raw[i : i + 9] * 2, bytes([raw[i] ^ 1 << draw.randrange(8)])]
        other += [bytes([x]) for x in draw.sample(b'0123456789-/"[]{},:\\u ', 5)]
        raw[i : i + draw.randrange(2)] = draw.choice(other)
    with suppress(ValueError):
        content = json.loads(raw)
        if isinstance(content, dict) and draw.random() < 0.8:
            return sealed(content)
    return bytes(raw)
