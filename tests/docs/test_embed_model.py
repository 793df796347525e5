"""examples/embed_model.py writes transformers' own states, which `attncert assume` reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.paths import EXAMPLES

from attncert.verify.third_party.assume.loading import load_inputs

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / "embed_model.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_states_of_a_small_model(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from safetensors.torch import save_file

    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2}
    config = transformers.BertConfig(**sizes, intermediate_size=32, vocab_size=40)
    model, folder = transformers.AutoModel.from_config(config).eval(), tmp_path / "model"
    model.save_pretrained(folder)
    tokens = np.random.default_rng(0).integers(0, 40, (23, 5))
    np.save(tmp_path / "t.npy", tokens)
    words = (folder, tmp_path / "t.npy")
    done = run(*words, tmp_path / "out.npz", "--layer", 2, "--contexts", 4, "--batch", 8)
    assert done.returncode == 0, done.stderr
    with torch.inference_mode():
        states = model(torch.from_numpy(tokens), output_hidden_states=True).hidden_states[2].numpy()
    found = load_inputs(str(tmp_path / "out.npz"))
    assert np.allclose(found.queries.array, states[:, 0], atol=1e-6)
    assert found.with_context == (0, 5, 11, 17)
    assert all(np.allclose(x, states[k], atol=1e-6) for k, x in found.contexts())
    assert "--layer must be from 0 to 2" in run(*words, tmp_path / "no", "--layer", 3).stderr
    whole = model.state_dict()
    lacking = {key: x for key, x in whole.items() if "layer.1.attention" not in key}
    save_file(lacking, folder / "model.safetensors", metadata={"format": "pt"})
    assert "lack a weight" in run(*words, tmp_path / "nan", "--layer", 2).stderr
