"""Train two blocks of attention in PyTorch on an induction task, and store them for an audit.

python examples/train_network.py [FOLDER] writes network.json and network-data.json. A sequence has
three different letters out of four, then the first or second of them again; its label is the letter
after that letter's first occurrence. The letter and the position of a token are one-hot vectors.
Training by Adam takes seconds. Then run:

    attncert layer examples/trained/network.json examples/trained/network-data.json
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

D, HEADS, WIDTH, STEPS = 8, 2, 4, 1500


class Attention(nn.Module):
    """The logits x K Qᵀ r of token x for reader r, not scaled."""

    def __init__(self) -> None:
        super().__init__()
        names = "key", "query", "value"
        self.heads = nn.ParameterDict({x: torch.randn(HEADS, D, WIDTH) / 2 for x in names})
        self.output = nn.Parameter(torch.randn(HEADS * WIDTH, D) / 2)

    def forward(self, x: Tensor) -> Tensor:
        key, query, value = (x[:, None] @ self.heads[name] for name in ("key", "query", "value"))
        weights = torch.softmax(query @ key.transpose(2, 3), dim=3)
        made = (weights @ value).transpose(1, 2).reshape(*x.shape[:2], -1)
        return x + made @ self.output


def task() -> tuple[Tensor, Tensor]:
    """Tokens (48, 4, 8), and the letters that follow, as numbers (48, 1)."""
    rows = [(*three, three[k]) for three in permutations(range(4), 3) for k in (0, 1)]
    letters = nn.functional.one_hot(torch.tensor(rows), 4)
    places = torch.eye(4, dtype=torch.int64).expand(len(rows), 4, 4)
    after = [[row[row.index(row[3]) + 1]] for row in rows]
    return torch.cat([letters, places], dim=2).float(), torch.tensor(after).float()


def train() -> nn.Sequential:
    torch.manual_seed(0)
    tokens, labels = task()
    model = nn.Sequential(Attention(), Attention(), nn.Linear(D, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(tokens)[:, -1], labels).backward()
        optimizer.step()
        schedule.step()
    return model


def written(model: nn.Sequential) -> list[dict[str, Any]]:
    """The blocks as in docs/models-and-layers.md, with each float32 as an exact fraction."""
    first, second, readout = model
    blocks = []
    for block, of in ((first, "all"), (second, "query")):
        heads = [{name: exact(x[h]) for name, x in block.heads.items()} for h in range(HEADS)]
        blocks.append({
            "kind": "attention", "of": of, "rule": "softmax", "logit_unit": "1", "heads": heads,
            "output": exact(block.output), "mask": None, "residual": True,
        })  # fmt: skip
    blocks.append({
        "kind": "feed-forward", "of": "query", "activation": "identity",
        "weights": exact(readout.weight.T), "bias": exact(readout.bias), "residual": False,
    })  # fmt: skip
    return blocks


def exact(x: Tensor) -> Any:
    return [exact(row) for row in x] if x.ndim else str(Fraction(x.item()))


def main(folder: Path) -> None:
    model, (tokens, labels) = train(), task()
    error = (model(tokens)[:, -1] - labels).abs().max().item()
    print(f"largest error in float32: {error:.2g}")
    whole = tokens.int().tolist()
    data = {"contexts": whole, "queries": [rows[-1] for rows in whole]}
    data["labels"] = labels.int().flatten().tolist()
    (folder / "network-data.json").write_text(json.dumps(data) + "\n")
    (folder / "network.json").write_text(json.dumps({"network": written(model)}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "trained")
