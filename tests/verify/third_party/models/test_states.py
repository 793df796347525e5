"""Random models have transformers' own states; files that lack a part are refused."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.requires import require

from attncert.constructions.errors import InputError
from attncert.verify.questions.embed import Embed
from attncert.verify.third_party.models.embed import embed
from attncert.verify.third_party.models.inputs import open_inputs
from attncert.verify.third_party.models.network import Network, build

pytestmark = pytest.mark.filterwarnings("default")
FOUND = all(find_spec(name) for name in ("torch", "transformers", "tokenizers"))
SMALL: dict[str, tuple[str, dict[str, Any]]] = {
    "vit": ("ViT", {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2,
                    "intermediate_size": 32, "image_size": 16, "patch_size": 8}),
    "gpt2": ("GPT2", {"n_embd": 16, "n_layer": 3, "n_head": 2, "vocab_size": 40,
                      "n_positions": 12, "bos_token_id": 0, "eos_token_id": 0}),
    "bert": ("Bert", {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2,
                      "intermediate_size": 32, "vocab_size": 40}),
    "distilbert": ("DistilBert", {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32,
                                  "vocab_size": 40}),
    "albert": ("Albert", {"hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 2,
                          "num_hidden_groups": 2, "intermediate_size": 32, "vocab_size": 40,
                          "embedding_size": 8}),
    "llama": ("Llama", {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2,
                        "num_key_value_heads": 1, "intermediate_size": 32, "vocab_size": 40}),
    "t5": ("T5", {"d_model": 16, "num_layers": 3, "num_heads": 2, "d_kv": 8, "d_ff": 32,
                  "vocab_size": 40, "decoder_start_token_id": 0}),
}  # fmt: skip
TOKENS = {"input_ids": np.arange(8).reshape(2, 4)}


@pytest.fixture(autouse=True)
def _libraries() -> None:
    require("models", FOUND, "torch, transformers or tokenizers is missing")


def model_of(name: str | Path, layer: int = 1, **options: Any) -> Network:
    return build(str(name), Embed(layer, **options))


def saved(family: str, folder: Path, **options: Any) -> Any:
    import torch
    import transformers

    kind, sizes = SMALL[family]
    torch.manual_seed(1)
    config = getattr(transformers, f"{kind}Config")(**sizes)
    model = transformers.AutoModel.from_config(config)
    model.eval().save_pretrained(folder, **options)
    return model


@pytest.mark.parametrize("family", [name for name in SMALL if name != "t5"])
def test_states_are_those_of_the_whole_model(family: str, tmp_path: Path) -> None:
    import torch

    whole = saved(family, tmp_path)
    draw = np.random.default_rng(0)
    batch: dict[str, np.ndarray] = {"input_ids": draw.integers(0, 40, (2, 7))}
    if family == "vit":
        batch = {"pixel_values": draw.standard_normal((2, 3, 16, 16)).astype(np.float32)}
    with torch.inference_mode():
        tensors = {key: torch.from_numpy(x) for key, x in batch.items()}
        states = whole(**tensors, output_hidden_states=True).hidden_states
    layers = whole.config.num_hidden_layers
    for layer in range(layers):
        network = model_of(tmp_path, layer)
        assert np.array_equal(network.states(batch), states[layer].numpy())
        if family != "albert":  # its layers share modules
            lists = [m for m in network.model.modules() if isinstance(m, torch.nn.ModuleList)]
            assert len(lists[0]) == layer + 1
    with pytest.raises(InputError, match=f"layer: must be from 0 to {layers - 1}, below"):
        model_of(tmp_path, layers)


def test_random_weights_depend_on_the_seed_alone(tmp_path: Path) -> None:
    import transformers

    transformers.BertConfig(**SMALL["bert"][1]).save_pretrained(tmp_path)
    networks = [model_of(tmp_path, random=True, seed=seed) for seed in (1, 1, 2)]
    states = [network.states(TOKENS) for network in networks]
    hashes = [network.provenance["weights sha256"] for network in networks]
    assert np.array_equal(states[0], states[1]) and not np.array_equal(states[0], states[2])
    assert hashes[0] == hashes[1] != hashes[2]
    deeper = model_of(tmp_path, 2, random=True, seed=1)
    assert deeper.provenance["weights sha256"] == hashes[0]
    wide = model_of(tmp_path, random=True, seed=1, dtype="float64").states(TOKENS)
    assert abs(wide.sum(axis=-1)).max() < 1e-12  # since the layer norm has gain 1
    assert wide.dtype == np.float64 and 0 < abs(wide - states[0]).max() < 1e-5


def test_a_model_of_one_layer_and_a_word_that_it_lacks(tmp_path: Path) -> None:
    import transformers

    sizes = SMALL["bert"][1] | {"num_hidden_layers": 1}
    transformers.BertConfig(**sizes).save_pretrained(tmp_path)
    np.save(tmp_path / "t.npy", np.arange(30).reshape(10, 3))
    embed(str(tmp_path), str(tmp_path / "t.npy"), tmp_path / "out", Embed(random=True))
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["layer"] == 0
    for wrong in (40, -1):
        np.save(tmp_path / "t.npy", [[3, wrong]])
        with pytest.raises(InputError, match="MODEL: must be one that turns such input_ids"):
            embed(str(tmp_path), str(tmp_path / "t.npy"), tmp_path / "no", Embed(random=True))
    assert not (tmp_path / "no").exists()


def test_what_is_no_model_is_one_line(tmp_path: Path) -> None:
    import transformers

    with pytest.raises(
        InputError, match=r"MODEL: must be one .* a folder with a config\.json of a model"
    ):
        model_of(tmp_path)
    transformers.BertConfig(**SMALL["bert"][1]).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="weights are in safetensors files"):
        model_of(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(InputError, match="weights are in safetensors files"):
        model_of(tmp_path)
    transformers.BertConfig().save_pretrained(tmp_path / "base")
    with pytest.raises(InputError, match=r"memory: must be at least 418 MiB, .* not 417 MiB"):
        model_of(tmp_path / "base", random=True, memory=417)
    for content in ("{", "[]", "{}"):
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(
            InputError, match=r"MODEL: must be one .* a folder with a config\.json of a model"
        ):
            model_of(tmp_path)


def test_an_encoder_beside_a_decoder_is_one_line(tmp_path: Path) -> None:
    saved("t5", tmp_path)
    with pytest.raises(InputError, match="MODEL: must be one that turns such input_ids to states"):
        model_of(tmp_path).states(TOKENS)


def test_weights_that_no_file_has_are_not_made_up(tmp_path: Path) -> None:
    """The library would draw them at random. BERT's pooler, which no state uses, may be missing."""
    from safetensors.torch import save_file

    whole = saved("bert", tmp_path).state_dict()

    def states(left_out: str, layer: int = 2) -> np.ndarray:
        stored = {key: x for key, x in whole.items() if left_out not in key}
        save_file(stored, tmp_path / "model.safetensors")
        return model_of(tmp_path, layer).states(TOKENS)

    assert np.array_equal(states("pooler"), states("nothing"))
    assert np.isfinite(states("encoder.layer.2.")).all()  # these states do not pass through it
    with pytest.raises(InputError, match=r"finite states, .* without encoder\.layer\.1\.attention"):
        states("encoder.layer.1.")
    name = "encoder.layer.0.attention.self.query.weight"
    save_file({**whole, name: whole[name].cfloat()}, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="weights are in safetensors files"):
        model_of(tmp_path)


def test_files_outside_the_folder_are_not_loaded(tmp_path: Path) -> None:
    """The index of a folder with weights in parts names a part outside the folder."""
    folder = tmp_path / "model"
    saved("bert", folder, max_shard_size="10KB")
    index = folder / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    key, part = next(iter(content["weight_map"].items()))
    (tmp_path / "x.safetensors").write_bytes((folder / part).read_bytes())
    assert model_of(folder).states(TOKENS).shape == (2, 4, 16)
    for place in ("../x.safetensors", str(tmp_path / "x.safetensors"), "a/../../x.safetensors"):
        content["weight_map"][key] = place
        index.write_text(json.dumps(content))
        with pytest.raises(InputError, match="one of files in its folder, not one of files out"):
            model_of(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"vocab_size": -4},
        {"num_hidden_layers": 0},
        {"hidden_size": 10**30},
        {"hidden_size": 17},
        {"model_type": "none of these"},
        {"num_labels": 10**9},
        {"num_hidden_layers": 10**4},
        {"sub": {"depths": [10**9]}},
    ],
)
def test_a_configuration_that_describes_no_model(changes: dict[str, Any], tmp_path: Path) -> None:
    settings = {"model_type": "bert", **SMALL["bert"][1], **changes}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match="MODEL: must be one"):
        model_of(tmp_path, random=True)


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "own", "auto_map": {"AutoConfig": "own.C", "AutoModel": "own.C"}},
        {"model_type": "own", "auto_map": {"AutoModel": "own.C"}},
        {"attn_implementation": "an/attention"},
        {"_attn_implementation": "an/attention@main"},
    ],
)
def test_no_code_of_a_model_is_run(changes: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass C: pass\n")
    settings = {"model_type": "bert", **SMALL["bert"][1], **changes}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match="MODEL: must be one"):
        model_of(tmp_path, random=True)
    assert not (tmp_path / "ran").exists()


def images(folder: Path, **files: tuple[int, int]) -> str:
    from PIL import Image

    folder.mkdir()
    for name, size in files.items():
        Image.new("L", size, 255).save(folder / f"{name}.png")
    return str(folder)


def test_no_code_of_an_image_processor_is_run(tmp_path: Path) -> None:
    saved("vit", tmp_path)
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass C: pass\n")
    described = {"image_processor_type": "Own", "auto_map": {"AutoImageProcessor": "own.C"}}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(described))
    with pytest.raises(InputError, match="MODEL: must be one that takes images"):
        open_inputs(images(tmp_path / "x", a=(4, 4)), str(tmp_path), Embed())
    assert not (tmp_path / "ran").exists()


def test_images_are_taken_as_the_model_takes_them(tmp_path: Path) -> None:
    import transformers

    folder, model = images(tmp_path / "images", a=(8, 4), c=(1, 401)), str(tmp_path / "model")
    saved("vit", Path(model))
    with pytest.raises(InputError, match="MODEL: must be one that takes images"):
        open_inputs(folder, model, Embed())
    size = {"height": 16, "width": 16}
    kind = transformers.ViTImageProcessor
    kind(size=size).save_pretrained(model)
    inputs = open_inputs(folder, model, Embed())
    white = inputs.batch(0, 1)["pixel_values"]
    assert white.shape == (1, 3, 16, 16) and np.allclose(white, 1)
    kind(size=size, image_mean=[1, 1, 1], image_std=[2, 2, 2]).save_pretrained(model)
    other = open_inputs(folder, model, Embed())
    assert np.allclose(other.batch(0, 1)["pixel_values"], 0)
    assert inputs.provenance["processor sha256"] != other.provenance["processor sha256"]
    (Path(folder) / "b.jpg").write_bytes(b"no image")
    bad = open_inputs(folder, model, Embed())
    for k, line in ((1, r"b\.jpg: must be an image"), (2, r"c\.png: .* side over 100 times")):
        with pytest.raises(InputError, match=line):
            bad.batch(k, k + 1)
    kind(size={"height": 10**5, "width": 10**5}).save_pretrained(model)  # 10^10 pixels
    with pytest.raises(InputError, match="images of fewer than 10,000 pixels"):
        open_inputs(folder, model, Embed())


def test_passages_carry_special_tokens(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "a": 3, "b": 4, "c": 5, "d": 6}
    tool = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tool.pre_tokenizer = pre_tokenizers.Whitespace()
    tool.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)]
    )
    tool.enable_truncation(3)  # as stored tokenizers do; the text must not be truncated
    tool.enable_padding(length=7)
    tool.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "t.txt").write_text("a b c d b")

    def read(length: int | None, name: str = "t.txt") -> Any:
        return open_inputs(str(tmp_path / name), str(tmp_path), Embed(length=length))

    assert read(4).batch(0, 9)["input_ids"].tolist() == [[0, 3, 4, 1], [0, 5, 6, 1]]
    assert read(7).batch(0, 9)["input_ids"].tolist() == [[0, 3, 4, 5, 6, 4, 1]]
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "bytes.txt").write_bytes(b"\xff")
    for length, name, line in (
        (None, "t.txt", "length: must be given for a text"),
        (2, "t.txt", "length: must be at least 3"),
        (8, "t.txt", "length: must be at most 7, the tokens of this text"),
        (4, "empty.txt", "length: must be at most 2, the tokens of this text"),
        (4, "bytes.txt", "INPUTS: must be a text in UTF-8"),
    ):
        with pytest.raises(InputError, match=line):
            read(length, name)
    Tokenizer(models.WordLevel({"a": 0}, unk_token="[UNK]")).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(InputError, match=r"one with a tokenizer\.json that takes this text"):
        read(4)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"one with a tokenizer\.json that takes this text"):
        read(4)
