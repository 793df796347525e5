"""Trains a small ViT and a small GPT in minutes, and keeps the weights before and after training.

    python benchmarks/models_trained.py FOLDER

FOLDER holds what models_inputs.py wrote (text.txt, bpe/). It gets digits/ (the 1,797 bundled digits
as images), vit-before/, vit-trained/, gpt-before/ and gpt-trained/ (as transformers saves models),
and training.json: loss and accuracy on held-out inputs, and the time. One thread
and one seed: identical runs on one machine give identical weights. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from models_inputs import save_images
from PIL import Image

from attncert.constructions.data.digits import all_digits

SEED = 0
PASSAGE = 64
VIT: dict[str, Any] = {
    "image_size": 8, "patch_size": 2, "hidden_size": 64, "num_hidden_layers": 4,
    "num_attention_heads": 4, "intermediate_size": 128, "num_labels": 10,
}  # fmt: skip
GPT: dict[str, Any] = {
    "n_embd": 128, "n_layer": 4, "n_head": 4, "n_positions": PASSAGE, "bos_token_id": 0,
    "eos_token_id": 0, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
}  # fmt: skip
SEEN = 1500  # digits used for training; the other 297 are held out
EPOCHS, IMAGES = 30, 50
STEPS, PASSAGES = 400, 16


def images() -> tuple[np.ndarray, np.ndarray]:
    """uint8 (1797, 8, 8, 3), grey in three channels; labels (1797,)."""
    data = all_digits()
    quarters = data.contexts.stored.reshape(-1, 2, 2, 4, 4).swapaxes(2, 3)
    grey = np.round(quarters.reshape(-1, 8, 8).astype(float) * (255 / 16)).astype(np.uint8)
    labels = data.labels.stored.reshape(-1).astype(np.int64)
    return np.repeat(grey[..., None], 3, axis=3), labels


def vit(folder: Path) -> dict[str, Any]:
    shown, answers = images()
    save_images(folder / "digits", shown)
    processor = transformers.ViTImageProcessor(do_resize=False)
    images_in_turn = [Image.fromarray(image) for image in shown]
    pixels = processor(images_in_turn, return_tensors="pt")["pixel_values"]
    labels = torch.from_numpy(answers)
    config = transformers.ViTConfig(**VIT)
    model = transformers.ViTForImageClassification(config)

    def batches() -> Iterator[dict[str, torch.Tensor]]:
        for _ in range(EPOCHS):
            for part in torch.randperm(SEEN).split(IMAGES):
                yield {"pixel_values": pixels[part], "labels": labels[part]}

    def judged() -> dict[str, float]:
        out = model(pixel_values=pixels[SEEN:], labels=labels[SEEN:])
        right = (out.logits.argmax(dim=1) == labels[SEEN:]).double().mean()
        return {"loss": round(float(out.loss), 3), "accuracy": round(float(right), 4)}

    steps = EPOCHS * (SEEN // IMAGES)
    for at in ("before", "trained"):
        processor.save_pretrained(folder / f"vit-{at}")
    return trained(model, batches(), steps, judged, folder, "vit")


def gpt(folder: Path) -> dict[str, Any]:
    from tokenizers import Tokenizer

    tool = Tokenizer.from_file(str(folder / "bpe" / "tokenizer.json"))
    ids = torch.tensor(tool.encode((folder / "text.txt").read_text(encoding="utf-8")).ids)
    rows = ids[: len(ids) // PASSAGE * PASSAGE].view(-1, PASSAGE)
    seen, rest = rows[: len(rows) * 19 // 20], rows[len(rows) * 19 // 20 :]
    config = transformers.GPT2Config(vocab_size=tool.get_vocab_size(), **GPT)
    model = transformers.GPT2LMHeadModel(config)

    def batches() -> Iterator[dict[str, torch.Tensor]]:
        for _ in range(STEPS):
            part = seen[torch.randint(len(seen), (PASSAGES,))]
            yield {"input_ids": part, "labels": part}

    def judged() -> dict[str, float]:
        losses = [model(input_ids=x, labels=x).loss for x in rest.split(32)]
        return {"loss": round(float(torch.stack(losses).mean()), 3)}

    return trained(model, batches(), STEPS, judged, folder, "gpt")


def trained(
    model: Any,
    batches: Iterator[dict[str, torch.Tensor]],
    steps: int,
    judged: Callable[[], dict[str, float]],
    folder: Path,
    name: str,
) -> dict[str, Any]:
    """Train with Adam; its rate rises for 5 % of the steps, then follows a cosine to 0."""

    def kept(at: str) -> dict[str, float]:
        model.eval().save_pretrained(folder / f"{name}-{at}")
        with torch.inference_mode():
            return judged()

    found: dict[str, Any] = {"before": kept("before")}
    start, processor = time.monotonic(), time.process_time()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = transformers.get_cosine_schedule_with_warmup(optimizer, steps // 20, steps)
    model.train()
    for batch in batches:
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
        schedule.step()
    return found | {
        "seconds": round(time.monotonic() - start, 1),
        "processor seconds": round(time.process_time() - processor, 1),
        "steps": steps,
        "parameters": sum(p.numel() for p in model.parameters()),
        "trained": kept("trained"),
    }


def main(folder: Path) -> None:
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    found = {}
    for name, train in (("vit", vit), ("gpt", gpt)):
        torch.manual_seed(SEED)
        found[name] = train(folder)
        print(name, found[name], flush=True)
    (folder / "training.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    main(parser.parse_args().folder)
