"""The commands on a GPU, from data to a certificate that checks, answer as on the CPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.devices import Gpu

import attncert
from attncert.constructions.data import generators

pytestmark = [pytest.mark.gpu, pytest.mark.slow]


def test_prove_writes_the_same_certificate(
    gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = generators.random(T=25, n=4, d=5, seed=2)
    parts = {"contexts": data.contexts, "queries": data.queries, "labels": data.labels}
    content = {name: part.numerators.tolist() for name, part in parts.items()}
    Path("data.json").write_text(json.dumps(content | {"contexts": content["contexts"][0]}))
    options = ["--construction", "width-one", "--claim", "full-rank"]
    written = {}
    for device in ("cuda", "cpu"):
        out = ["--device", device, "--out", device]
        assert attncert.main(["prove", "data.json", *options, *out]) == 0
        assert attncert.main(["check", f"{device}/certificate.json"]) == 0
        certificate: dict[str, Any] = json.loads(Path(device, "certificate.json").read_text())
        certificate.pop("digest"), certificate.pop("produced_by")
        written[device] = certificate
    assert written["cuda"]["rank"].pop("prime") == "11863067"
    written["cpu"]["rank"].pop("prime")  # at this size, FLINT chose this prime
    assert written["cuda"] == written["cpu"]


def test_kruskal_says_the_same(
    gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = np.random.default_rng(0).integers(-99, 99, (24, 9))
    table[11] = table[3] + table[7]
    np.save("table.npy", table)
    said = {}
    for device in ("cuda", "cpu"):
        options = ["--subsets", "40", "--work", "1", "--json", "--device", device, "--out", device]
        status = attncert.main(["kruskal", "table.npy", *options])
        said[device] = status, without_device(json.loads(capsys.readouterr().out))
    assert said["cuda"] == said["cpu"]


def without_device(found: Any) -> Any:
    if isinstance(found, dict):
        return {
            k: without_device(v)
            for k, v in found.items()
            if k not in ("device", "primes", "report")
        }
    return found
