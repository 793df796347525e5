"""Models from Hugging Face's libraries, where they are installed: the right state is taken."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.requires import require

from attncert.constructions.errors import InputError
from attncert.constructions.models.inputs import open_inputs

FOUND = all(importlib.util.find_spec(name) for name in ("torch", "transformers", "tokenizers"))
SMALL: dict[str, tuple[str, dict[str, Any]]] = {
    "vit": ("ViT", {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2,
                    "intermediate_size": 32, "image_size": 16, "patch_size": 8}),
    "gpt2": ("GPT2", {"n_embd": 16, "n_layer": 3, "n_head": 2, "vocab_size": 40,
                      "n_positions": 12, "bos_token_id": 0, "eos_token_id": 0}),
    "bert": ("Bert", {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2,
                      "intermediate_size": 32, "vocab_size": 40}),
    "distilbert": ("DistilBert", {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32,
                                  "vocab_size": 40}),
    "albert": ("Albert", {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2,
                          "intermediate_size": 32, "vocab_size": 40, "embedding_size": 8}),
    "t5": ("T5", {"d_model": 16, "num_layers": 3, "num_heads": 2, "d_kv": 8, "d_ff": 32,
                  "vocab_size": 40, "decoder_start_token_id": 0}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _libraries() -> None:
    require("models", FOUND, "torch, transformers or tokenizers is missing")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("family", [name for name in SMALL if name != "t5"])
def test_a_few_layers_give_the_state_of_the_whole_model(family: str, tmp_path: Path) -> None:
    import torch
    import transformers

    from attncert.constructions.models.network import build

    kind, sizes = SMALL[family]
    torch.manual_seed(1)
    whole = transformers.AutoModel.from_config(getattr(transformers, f"{kind}Config")(**sizes))
    whole.eval().save_pretrained(tmp_path)
    draw = np.random.default_rng(0)
    batch: dict[str, np.ndarray] = {"input_ids": draw.integers(0, 40, (2, 7))}
    if family == "vit":
        batch = {"pixel_values": draw.standard_normal((2, 3, 16, 16)).astype(np.float32)}
    with torch.inference_mode():
        tensors = {key: torch.from_numpy(x) for key, x in batch.items()}
        states = whole(**tensors, output_hidden_states=True).hidden_states
    for layer in range(4):
        network = build(str(tmp_path), layer=layer)
        same = np.array_equal(network.states(batch), states[layer].numpy())
        # After its last block GPT-2 applies its final norm, which is no part of the state.
        assert same == ((family, layer) != ("gpt2", 3))
        if family == "albert":  # whose layers share their weights
            assert network.blocks is None and "whole model" in network.told["built"]
        else:
            assert len(network.blocks) == max(1, layer) and "built" not in network.told
    if family == "gpt2":
        last = torch.from_numpy(network.states(batch))
        assert torch.equal(whole.ln_f(last), states[3])


@pytest.mark.filterwarnings("default")
def test_random_weights_depend_on_the_seed_alone(tmp_path: Path) -> None:
    import transformers

    from attncert.constructions.models.network import build

    transformers.BertConfig(**SMALL["bert"][1]).save_pretrained(tmp_path)
    batch = {"input_ids": np.arange(8).reshape(2, 4)}
    found = [build(str(tmp_path), layer=1, random=True, seed=s).states(batch) for s in (1, 1, 2)]
    assert np.array_equal(found[0], found[1]) and not np.array_equal(found[0], found[2])
    wide = build(str(tmp_path), layer=1, random=True, seed=1, dtype="float64").states(batch)
    assert abs(wide.sum(axis=-1)).max() < 1e-12  # a layer norm of gain 1: all in a hyperplane
    assert wide.dtype == np.float64 and 0 < abs(wide - found[0]).max() < 1e-5
    with pytest.raises(InputError, match="from 0 to 3, the layers of this model"):
        build(str(tmp_path), layer=4, random=True)
    with pytest.raises(InputError, match="weights are in safetensors files"):
        build(str(tmp_path), layer=1)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(InputError, match="weights are in safetensors files"):
        build(str(tmp_path), layer=1)
    with pytest.raises(InputError, match="--memory: must be at least 1 MiB"):
        build(str(tmp_path), layer=1, random=True, memory=1000)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match=r"a folder with config\.json"):
        build(str(tmp_path), layer=1)
    with pytest.raises(InputError, match="this name is for --random"):
        build("gpt2", layer=1)


@pytest.mark.filterwarnings("default")
def test_the_whole_model_is_paid_for_where_it_is_run(tmp_path: Path) -> None:
    import transformers

    from attncert.constructions.models.network import build, bytes_needed

    transformers.AlbertConfig(**SMALL["albert"][1]).save_pretrained(tmp_path)
    network = build(str(tmp_path), layer=1, random=True)
    one = dataclasses.replace(network, blocks=())
    more = [bytes_needed(made, 2, 7, "float32") for made in (network, one)]
    assert more[0] - more[1] == 4 * 2 * 7 * (4 * 16)  # of four states of all tokens
    assert network.states({"input_ids": np.arange(14).reshape(2, 7)}).shape == (2, 7, 16)
    with pytest.raises(InputError, match="whose hidden states have 8 numbers"):
        dataclasses.replace(network, width=8).states({"input_ids": np.arange(4).reshape(1, 4)})


@pytest.mark.filterwarnings("default")
def test_an_encoder_beside_a_decoder_is_one_line(tmp_path: Path) -> None:
    import transformers

    from attncert.constructions.models.network import build

    transformers.T5Config(**SMALL["t5"][1]).save_pretrained(tmp_path)
    network = build(str(tmp_path), layer=1, random=True)
    with pytest.raises(InputError, match="MODEL: must be a model that turns input_ids into"):
        network.states({"input_ids": np.arange(4).reshape(1, 4)})


@pytest.mark.filterwarnings("default")
def test_weights_that_no_file_has_are_not_made_up(tmp_path: Path) -> None:
    """The library draws them at random. No state depends on BERT's pooler: it may be missing."""
    import torch
    import transformers
    from safetensors.torch import save_file

    from attncert.constructions.models.network import build

    config = transformers.BertConfig(**SMALL["bert"][1])
    config.save_pretrained(tmp_path)
    whole = transformers.AutoModel.from_config(config).state_dict()
    batch, file = {"input_ids": np.arange(8).reshape(2, 4)}, tmp_path / "model.safetensors"

    def states(left_out: str, layer: int) -> np.ndarray:
        save_file({key: x for key, x in whole.items() if left_out not in key}, file)
        return build(str(tmp_path), layer=layer).states(batch)

    assert np.array_equal(states("pooler", 2), states("nothing", 2))
    assert np.isfinite(states("encoder.layer.2.", 2)).all()  # which is not built
    with pytest.raises(
        InputError, match=r"all weights that .* without encoder\.layer\.1\.attention"
    ):
        states("encoder.layer.1.", 2)
    name = "encoder.layer.0.attention.self.query.weight"
    save_file({**whole, name: whole[name].to(torch.complex64)}, file)
    with pytest.raises(InputError, match="weights are in safetensors files"):
        build(str(tmp_path), layer=1)


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("bert", {"type_vocab_size": 0}),
        ("bert", {"model_type": "roberta", "max_position_embeddings": 4}),  # it counts from 2
        ("vit", {"image_size": 4}),
    ],
)
def test_a_model_that_breaks_on_its_inputs(
    family: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    from attncert.constructions.models.network import build

    told = {"model_type": family, **SMALL[family][1], **changes}
    (tmp_path / "config.json").write_text(json.dumps(told))
    network = build(str(tmp_path), layer=1, random=True)
    batch: dict[str, np.ndarray] = {"input_ids": np.full((1, 4), 3)}
    if family == "vit":
        batch = {"pixel_values": np.ones((1, 3, 4, 4), dtype=np.float32)}
    with pytest.raises(InputError, match="MODEL: must be a model that turns"):
        network.states(batch)


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_act": "none of these"},
        {"vocab_size": -4},
        {"vocab_size": "40"},
        {"num_attention_heads": 0},
        {"hidden_size": 10**30},
        {"model_type": ["bert"]},
    ],
)
def test_a_configuration_that_describes_no_model(changes: dict[str, Any], tmp_path: Path) -> None:
    from attncert.constructions.models.network import build

    told = {"model_type": "bert", **SMALL["bert"][1], **changes}
    (tmp_path / "config.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match="MODEL: must be a model"):
        build(str(tmp_path), layer=1, random=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_labels": 10**9}, "at most 100,000 as its num_labels, not 1000000000"),
        ({"num_hidden_layers": 10**9}, "at most 100,000 as its num_hidden_layers"),
        ({"sub": {"depths": [10**9]}}, "at most 100,000 as its depths"),
    ],
)
def test_a_short_configuration_asks_for_no_long_lists(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    from attncert.constructions.models.network import build

    told = {"model_type": "bert", **SMALL["bert"][1], **changes}
    (tmp_path / "config.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match=said):
        build(str(tmp_path), layer=1, random=True)


def test_parts_of_a_model_are_counted_as_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attncert.constructions.models import network

    told = {"model_type": "bert", **SMALL["bert"][1]}
    (tmp_path / "config.json").write_text(json.dumps(told))
    monkeypatch.setattr(network, "_MOST_PARTS", 100)
    with pytest.raises(InputError, match="MODEL: must be one of at most 100 parts"):
        network.build(str(tmp_path), layer=1, random=True)
    monkeypatch.setattr(network, "_MOST_PARTS", 300)
    assert network.build(str(tmp_path), layer=1, random=True).layers == 3


def test_an_image_is_counted_before_it_is_made(tmp_path: Path) -> None:
    """Of one pixel, for a model of a few weights that takes 10^10 pixels."""
    from PIL import Image

    from attncert.constructions.models.embed import EmbedSettings, embed

    told = {"model_type": "vit", **SMALL["vit"][1], "image_size": 10**5, "patch_size": 1000}
    (tmp_path / "config.json").write_text(json.dumps(told))
    (tmp_path / "images").mkdir()
    Image.new("RGB", (1, 1)).save(tmp_path / "images" / "a.png")
    settings = EmbedSettings(random=True, memory=2**29)
    with pytest.raises(InputError, match=r"--memory: must be at least .*, not 512 MiB"):
        embed(str(tmp_path), str(tmp_path / "images"), tmp_path / "out", settings)


def test_passages_carry_special_tokens(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "a": 3, "b": 4, "c": 5, "d": 6}
    tool = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tool.pre_tokenizer = pre_tokenizers.Whitespace()
    tool.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)]
    )
    tool.enable_truncation(3)  # as stored tokenizers do; the text is not to be cut
    tool.enable_padding(length=7)
    tool.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "t.txt").write_text("a b c d b")

    def read(length: int | None, count: int | None, name: str = "t.txt") -> Any:
        return open_inputs(
            str(tmp_path / name), pixels=None, tokenizer=str(tmp_path), length=length,
            longest=5, count=count,
        )  # fmt: skip

    assert read(4, None).batch(0, 9)["input_ids"].tolist() == [[0, 3, 4, 1], [0, 5, 6, 1]]
    found = read(None, 3)
    assert found.batch(1, 3)["input_ids"].tolist() == [[0, 4, 5, 6, 1], [0, 5, 6, 4, 1]]
    assert json.loads(json.dumps(found.told))["overlap"] == 2
    (tmp_path / "empty.txt").write_text("")
    for length, count, name, said in (
        (2, None, "t.txt", "--length: must be over 2 tokens"),
        (0, None, "t.txt", "--length: must be over 2 tokens, not 0"),
        (4, 9, "t.txt", "--count: must be at most 4"),
        (4, None, "empty.txt", "a text of at least 2 tokens, not of 0"),
    ):
        with pytest.raises(InputError, match=said):
            read(length, count, name)
    Tokenizer(models.WordLevel({"a": 0}, unk_token="[UNK]")).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(InputError, match="--tokenizer: must be a tokenizer that takes this text"):
        read(4, None)
