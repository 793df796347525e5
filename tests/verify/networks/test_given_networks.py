"""`layer NETWORK DATA` agrees with plain fractions, and refuses bad files."""

from __future__ import annotations

import copy
import json
import random
import time
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import arb, ctx, fmpz
from support import networks
from support.shares import share
from support.shell import Shell

from attncert import Dataset, InputError, LayerQuestion, Weights, check, layer
from attncert.constructions.network.file import loaded, of_json
from attncert.reports.answers import report
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.third_party.layer.layer import LayerAnswer

FED: dict[str, Any] = {
    "kind": "feed-forward", "of": "query", "activation": "relu", "weights": [[2, 0.5]],
    "bias": [0, "1/3"], "residual": False,
}  # fmt: skip
READ: dict[str, Any] = {
    "kind": "feed-forward", "of": "query", "activation": "identity", "weights": [[1], [0.1]],
    "bias": [0], "residual": False,
}  # fmt: skip
ATTENTION: dict[str, Any] = {
    "kind": "attention", "of": "query", "rule": "softmax", "logit_unit": "1",
    "heads": [{"key": [[1]], "query": [[1]], "value": [[1]]}], "output": [[1]], "mask": None,
    "residual": True,
}  # fmt: skip
DATA = Dataset.of([[0], [1]], [[0], [1], [2]], [0, 1, 2])


def file(blocks: Any, folder: Path) -> Path:
    path = folder / "network.json"
    path.write_text(json.dumps({"network": blocks}))
    return path


def asked(blocks: Any, data: Dataset, folder: Path, **options: Any) -> Proof:
    answer = layer(file(blocks, folder), data, LayerQuestion(**options))
    assert isinstance(answer, Proof)
    return answer


def one_layer(blocks: Any) -> bool:
    only = blocks[0]
    plain = only["kind"] == "attention" and [only["of"], only["rule"]] == ["query", "softmax"]
    return len(blocks) == 1 and plain and only["mask"] is None and not only["residual"]


@pytest.mark.parametrize(
    ("count", "first"), [(10, 300), pytest.param(200, 40_000, marks=pytest.mark.slow)]
)
def test_random_networks_equal_their_labels_or_miss_them(
    count: int, first: int, tmp_path: Path
) -> None:
    draw = random.Random(first)
    for certificate in networks.rational(count, first):
        blocks, labels = certificate["network"], certificate["data"]["labels"]
        if one_layer(blocks):
            continue
        equal = asked(
            blocks, networks.dataset(certificate["data"], labels), tmp_path, tolerance="1/2"
        )
        assert equal.standing is Level.PROVED and "equals its label" in equal.statement
        assert equal.certificate is not None and equal.certificate["claim"] == "network"
        paths = equal.write(tmp_path / "equal")
        path = next(x for x in paths if x.name == "certificate.json")
        assert check(path).status == "holds"

        t, off = draw.randrange(len(labels)), Fraction(1, draw.choice([7, 2**20, 3**300]))
        others = copy.deepcopy(labels)
        others[t][0] = str(Fraction(others[t][0]) + off)
        data = networks.dataset(certificate["data"], others)
        near = asked(blocks, data, tmp_path, tolerance="1/2")
        low, high = map(Fraction, near.trace["layer.error"].numbers["error"])
        assert low <= off <= high <= off * Fraction(1001, 1000)
        if "network.recomputed" not in near.trace:  # a tie, which balls cannot show
            assert near.certificate is None and "balls are too wide to decide" in near.uncertified
        else:
            assert near.certificate is not None and near.certificate["claim"] == "outputs-within"
            within = Fraction(near.certificate["within"])
            assert off < within <= max(Fraction(12, 10) * off, Fraction(1, 10**100))
            path.write_text(json.dumps(near.certificate))
            assert check(path).status == "holds"

        far = asked(blocks, data, tmp_path, tolerance="1e-200")
        assert far.standing is Level.REFUTED and far.exit_status == 1
        assert far.claim.witness is not None and far.claim.witness["example"] == t
        assert far.certificate is None


def test_a_true_softmax_is_enclosed(tmp_path: Path) -> None:
    """For the tokens 0 and 1 and the query e, the output is e + 1/(1 + exp(-e))."""
    blocks = [ATTENTION]
    with ctx.workprec(200):
        centre = [e + 1 / (1 + (-e).exp()) for e in map(arb, (0, 1, 2))]
        labels = [[str(Fraction(float(x.mid())))] for x in centre]
        gaps = [abs(x - float(x.mid())) for x in centre]
    data = Dataset.of([[0], [1]], [[0], [1], [2]], labels)
    answer = asked(blocks, data, tmp_path)
    assert answer.standing is Level.ENCLOSED
    low, high = map(Fraction, answer.trace["layer.error"].numbers["error"])
    worst = Fraction(float(max(x.mid() for x in gaps)))
    assert low * Fraction(999, 1000) < worst < high * Fraction(1001, 1000)
    assert answer.certificate is not None
    assert high < Fraction(answer.certificate["within"]) < high * Fraction(12, 10)
    refuted = asked(blocks, data, tmp_path, tolerance="1e-30")
    assert refuted.exit_status == 1 and set(refuted.claim.witness or {}) >= {"example", "error"}


def judged(answer: Proof, folder: Path) -> str:
    """The claim of its certificate, which both checkers accept."""
    assert answer.certificate is not None
    path = folder / "certificate.json"
    path.write_text(json.dumps(answer.certificate))
    assert check(path).status == "holds"
    return str(answer.certificate["claim"])


@pytest.mark.parametrize(
    ("count", "first"), [(60, 900), pytest.param(200, 60_000, marks=pytest.mark.slow)]
)
def test_nearest_is_the_argmax_of_plain_fractions(count: int, first: int, tmp_path: Path) -> None:
    """One-hot labels are right, tied or permuted, and no output is near 0 or 1. Separate code
    computes the margin, the least difference of two outputs."""
    seen = Counter[str]()
    for k, certificate in enumerate(networks.rational(count, first)):
        blocks, data = certificate["network"], certificate["data"]
        outputs = networks.outputs(blocks, data)
        classes = [(row.index(max(row)) + (k % 3 == 0)) % len(row) for row in outputs]
        if one_layer(blocks) or len(set(classes)) == 1:
            continue
        labels = [
            [str(int(j == c)) for j in range(len(row))]
            for row, c in zip(outputs, classes, strict=True)
        ]
        margins = [
            min(x[c] - x[j] for j in classes if j != c)
            for x, c in zip(outputs, classes, strict=True)
        ]
        answer = asked(blocks, networks.dataset(data, labels), tmp_path)
        low, high = map(Fraction, answer.claim.numbers["margin"])
        assert low <= min(margins) <= high
        assert margins[answer.claim.numbers["example"]] == min(margins)
        assert answer.claim.numbers["beyond"] == [t for t, x in enumerate(margins) if x <= 0]
        assert answer.standing is (Level.PROVED if min(margins) > 0 else Level.REFUTED)
        seen[answer.standing.value, min(margins) == 0] += 1
        if answer.holds and answer.trace["layer.error"].numbers["error"] != ["0", "0"]:
            assert judged(answer, tmp_path) == "nearest"
            assert 0 < Fraction(answer.certificate["nearest"]["margin"]) <= min(margins)
    assert len(seen) == 3, seen


@pytest.mark.parametrize(("bits", "level"), [(9, Level.PROVED), (2**15, Level.ENCLOSED)])
@pytest.mark.parametrize("tolerance", [None, "1/2"])
def test_the_checker_proves_what_it_computes_exactly(
    bits: int, level: Level, tolerance: str | None, tmp_path: Path
) -> None:
    """The network is rational; the checker uses balls for numbers of more than 2^14 bits."""
    off = f"1/{fmpz(2) ** bits + 1}"
    answer = asked([affine(1, off, "identity")], DATA, tmp_path, tolerance=tolerance)
    assert answer.standing is answer.trace["network.recomputed"].level is level


def affine(weight: int, bias: Any, activation: str) -> dict[str, Any]:
    return FED | {"weights": [[weight]], "bias": [bias], "activation": activation}


SATURATED = [affine(1, -9, "relu"), affine(-1, 1, "relu"), affine(-1, 1, "identity")]


@pytest.mark.parametrize(("tolerance", "claim"), [(None, "nearest"), ("0", "outputs-within")])
@pytest.mark.parametrize("behind", [[affine(1, -9, "threshold")], SATURATED])
def test_an_exact_point_behind_an_irrational_softmax(
    behind: list[Any], tolerance: str | None, claim: str, tmp_path: Path
) -> None:
    """The conclusion is that the output equals its label; the checker agrees within its limits."""
    data = Dataset.of([[0], [1]], [[1], [-1], [20]], [0, 0, 1])
    answer = asked([ATTENTION, *behind], data, tmp_path, tolerance=tolerance)
    assert answer.standing is Level.ENCLOSED and "every output equals its label" in answer.statement
    assert answer.trace["network.recomputed"].level is Level.ENCLOSED
    assert judged(answer, tmp_path) == claim


def test_decimals_are_the_numbers_that_are_written(tmp_path: Path) -> None:
    tenth = Fraction("0.1")
    labels = [str(2 * e + tenth * (Fraction(e, 2) + Fraction(1, 3))) for e in (0, 1, 2)]
    blocks = [FED, READ]
    assert "equals" in asked(blocks, Dataset.of([[0]], [[0], [1], [2]], labels), tmp_path).statement
    nearly = [str(Fraction(x) + Fraction(1, 10**18)) for x in labels]
    answer = asked(blocks, Dataset.of([[0]], [[0], [1], [2]], nearly), tmp_path)
    assert "the largest error is" in answer.statement


def test_numbers_as_long_as_in_certificates(tmp_path: Path) -> None:
    long = "9" * 5000
    data = Dataset.of([[0]], [[1]], [0])
    blocks = [READ | {"weights": [[long]], "bias": [f"-{long}"]}]
    answer = asked(blocks, data, tmp_path, tolerance="0")
    assert answer.standing is Level.PROVED
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(answer.certificate))
    assert check(path).status == "holds"
    assert layer(path, data, LayerQuestion(tolerance="0")).standing is Level.PROVED


def test_one_layer_is_audited_as_a_layer(tmp_path: Path) -> None:
    plain = ATTENTION | {"residual": False}
    answer = layer(file([plain], tmp_path), DATA, LayerQuestion(tolerance=2))
    assert isinstance(answer, LayerAnswer) and "layer.rank" in answer.trace
    assert Weights.load(tmp_path / "network.json").unit == "e"
    network = of_json(json.loads(json.dumps([FED, READ]), parse_float=Decimal))
    assert isinstance(layer(network, DATA), Proof)
    assert loaded(file([FED, READ], tmp_path)).blocks == network.blocks


def test_the_page_and_the_certificate_as_a_network(tmp_path: Path) -> None:
    answer = asked([FED, READ], Dataset.of([[0]], [[0], [1], [2]], [0, 2, 4]), tmp_path)
    page = report(answer).files["report.md"].decode()
    for words in ("## The errors", "It changes the query.", "attncert layer WEIGHTS DATA"):
        assert words in page
    again = tmp_path / "again.json"
    again.write_text(json.dumps(answer.certificate))
    second = layer(again, answer.data)
    assert second.statement == answer.statement
    assert second.certificate == answer.certificate


BAD: list[tuple[Any, dict[str, Any], str]] = [
    ([FED], {}, "network: must be of output width 1, like the labels, not 2"),
    ([], {}, "network: must be made of one or more blocks, not empty"),
    ([READ], {}, "block 1: weights: must be of 1 rows, the width of the vectors"),
    ([FED | {"kind": "convolution"}], {}, "block 1: kind: must be one of: attention, feed-forward"),
    ([FED, {**READ, "more": 1}], {}, "block 2: keys: must be kind, of, activation"),
    ([FED, READ | {"weights": [[1], ["x"]]}], {}, "block 2: weights"),
    ([FED, READ | {"weights": [[1], [[2]]]}], {}, "block 2: weights"),
    ([FED, READ | {"weights": [["1e999999999"], [1]]}], {}, "block 2: weights"),
    ([FED, READ], {"heads": 2}, "heads: must be left out for a network, not 2"),
    ([FED, READ], {"scale": "sqrt-d"}, "scale: must be left out for a network, not sqrt-d"),
    ([FED, READ], {"logit_unit": "e"}, "logit_unit: must be left out for a network, not e"),
    ([FED, READ], {"mask": "causal"}, "mask: must be left out for a network"),
    ([FED, READ], {"prefix": "x"}, "network.json: must be an .npz, .safetensors or .pt file"),
    ([FED, READ], {"format": "hf"}, "network.json: must be an .npz, .safetensors or .pt file"),
    (
        [ATTENTION | {"mask": [[1]]}],
        {},
        "block 1: mask: must be 1 rows of 2 tokens, not of another",
    ),
]


@pytest.mark.parametrize(("blocks", "options", "message"), BAD, ids=[x[2][:50] for x in BAD])
def test_what_is_no_network_of_these_data_is_one_line(
    blocks: Any, options: dict[str, Any], message: str, tmp_path: Path, shell: Shell
) -> None:
    with pytest.raises(InputError) as error:
        asked(blocks, DATA, tmp_path, **options)
    assert message in str(error.value)
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"contexts": [[0], [1]], "queries": [[0], [1]], "labels": [0, 1]}))
    flags = [x for name, y in options.items() for x in (f"--{name.replace('_', '-')}", str(y))]
    shell.refuses("layer", file(blocks, tmp_path), data, *flags, "--out", tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_a_layer_alone_is_no_network(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be the weights of one layer, not a network"):
        Weights.load(file([FED, READ], tmp_path))


SQUARE = ATTENTION | {"of": "all", "rule": "linear", "logit_unit": None, "residual": False}
STEEP = ATTENTION | {"logit_unit": "ln 2"}


@pytest.mark.parametrize(
    "blocks", share([[SQUARE] * 5, [SQUARE] * 40, [STEEP], [STEEP, SQUARE]], 3)
)
def test_numbers_that_no_memory_holds_are_not_written_out(blocks: Any, tmp_path: Path) -> None:
    data = Dataset.of([[str(2**30)], [0]], [["1"], ["2"]], [0, 1])
    begin = time.process_time()
    answer = asked(blocks, data, tmp_path)
    assert answer.exit_status in (1, 3) and answer.certificate is None
    assert time.process_time() - begin < 30
