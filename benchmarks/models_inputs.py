"""Real inputs that ship with Python and its libraries: photographs, and prose with a vocabulary.

    python benchmarks/models_inputs.py FOLDER

writes crops/ (2,000 crops of 224×224 from the photographs in scikit-image and scikit-learn),
text.txt (documentation topics and docstrings of Python's standard library), the configurations of
SHAPES, and bpe/tokenizer.json (a byte-pair encoding trained on that text). Nothing is downloaded.
Since the photographs hold only about 110 disjoint crops, the 2,000 overlap; no two are the same.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from pathlib import Path

import numpy as np

SIDE, CROPS, VOCABULARY, SEED = 224, 2000, 8000, 0
_LARGE = {"num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
SHAPES = {  # other sizes are the defaults of the transformers library
    "vit-base": ("vit", {}),
    "bert-base": ("bert", {}),
    "bert-large": ("bert", {"hidden_size": 1024, **_LARGE}),
    "gpt2": ("gpt2", {}),
    "gpt2-large": ("gpt2", {"n_embd": 1280, "n_layer": 36, "n_head": 20}),
}
PHOTOGRAPHS = (
    "astronaut.png", "brick.png", "camera.png", "chelsea.png", "coffee.png", "coins.png",
    "grass.png", "gravel.png", "hubble_deep_field.jpg", "ihc.png", "moon.png",
    "motorcycle_left.png", "retina.jpg", "rocket.jpg",
)  # fmt: skip


def photographs() -> list[np.ndarray]:
    import skimage
    import sklearn
    from PIL import Image

    first = Path(skimage.__file__).parent / "data"
    second = Path(sklearn.__file__).parent / "datasets" / "images"
    paths = [first / name for name in PHOTOGRAPHS] + [second / "china.jpg", second / "flower.jpg"]
    return [np.asarray(Image.open(path).convert("RGB")) for path in paths]


def crops(count: int = CROPS) -> np.ndarray:
    """(count, 224, 224, 3): crops at positions drawn uniformly from all photographs, none twice."""
    images = photographs()
    rooms = [(x.shape[0] - SIDE + 1) * (x.shape[1] - SIDE + 1) for x in images]
    drawn = np.random.default_rng(SEED).choice(sum(rooms), size=count, replace=False)
    ends = np.cumsum(rooms)
    out = np.empty((count, SIDE, SIDE, 3), dtype=np.uint8)
    for i, place in enumerate(drawn):
        which = int(np.searchsorted(ends, place, side="right"))
        x = images[which]
        row, column = divmod(int(place - ends[which] + rooms[which]), x.shape[1] - SIDE + 1)
        out[i] = x[row : row + SIDE, column : column + SIDE]
    return out


def prose() -> str:
    """Documentation topics, then every docstring of the standard library, file by file."""
    from pydoc_data.topics import topics

    parts = [topics[key] for key in sorted(topics)]
    library = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(library.rglob("*.py")):
        if {"site-packages", "test", "tests", "idlelib"} & set(path.relative_to(library).parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        found = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds)]
        parts += [text for text in found if text]
    return "\n\n".join(parts)


def byte_pairs(text: str, size: int = VOCABULARY) -> str:
    """The JSON of a byte-pair tokenizer like GPT-2's, trained on this text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tool = Tokenizer(models.BPE())
    tool.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tool.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tool.train_from_iterator(text.split("\n\n"), trainer)
    return tool.to_str()


def passages(text: str, tokenizer: Path, length: int, count: int) -> np.ndarray:
    """(count, length): evenly spaced passages, which may overlap, with special tokens around
    each."""
    from tokenizers import Tokenizer

    tool = Tokenizer.from_file(str(tokenizer))
    tool.no_padding()
    tool.no_truncation()
    words = len(tool.encode(text, add_special_tokens=False).ids)
    body = length - tool.num_special_tokens_to_add(False)
    step = min(body, (words - body) // (count - 1))
    tool.enable_truncation(length, stride=body - step)
    first = tool.encode(text)
    rows = [one.ids for one in (first, *first.overflowing) if len(one.ids) == length]
    return np.array(rows)[np.arange(count) * len(rows) // count]


def save_images(folder: Path, images: np.ndarray) -> None:
    from PIL import Image

    folder.mkdir(exist_ok=True)
    for i, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{i:04}.png")


def main(folder: Path) -> None:
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    save_images(folder / "crops", crops())
    for name, (kind, sizes) in SHAPES.items():
        transformers.AutoConfig.for_model(kind, **sizes).save_pretrained(folder / name)
    transformers.ViTImageProcessor().save_pretrained(folder / "vit-base")
    text = prose()
    (folder / "text.txt").write_text(text, encoding="utf-8")
    (folder / "bpe").mkdir(exist_ok=True)
    (folder / "bpe" / "tokenizer.json").write_text(byte_pairs(text), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
