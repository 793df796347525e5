"""Random two-layer transformers, as a file stores them, with all kinds of blocks, and data for
them."""

from __future__ import annotations

import json
import random
from typing import Any

d, n, T = 4, 5, 3


def numbers(draw: random.Random, rows: int, columns: int) -> list[list[str]]:
    """Fractions, few of which float32 holds exactly."""
    return [[f"{draw.randint(-99, 99)}/100" for _ in range(columns)] for _ in range(rows)]


def stored_exactly(part: Any) -> Any:
    """The same part with fractions that float32 holds exactly: only operations round."""
    return json.loads(json.dumps(part).replace('/100"', '/128"'))


def deep(draw: random.Random) -> list[Any]:
    """Two layers as in a transformer, the second with all parts of attention."""
    table = {"kind": "positions", "of": "all", "table": numbers(draw, n, d), "query_place": "last"}
    made: list[Any] = [table | {"residual": True}]
    for general in (False, True):
        norm = {
            "kind": "normalization", "of": "all", "centred": draw.random() < 0.5,
            "epsilon": "1/1000", "gain": numbers(draw, 1, d)[0], "bias": numbers(draw, 1, d)[0],
            "residual": False,
        }  # fmt: skip
        attention = attends(draw) | (parts(draw) if general else {})
        group = {"kind": "group", "of": "all", "blocks": [norm, attention], "residual": True}
        gated = {
            "kind": "gated", "of": "all", "activation": draw.choice(["silu", "gelu-tanh", "relu"]),
            "gate": numbers(draw, d, 6), "gate_bias": numbers(draw, 1, 6)[0],
            "weights": numbers(draw, d, 6), "bias": numbers(draw, 1, 6)[0], "residual": False,
        }  # fmt: skip
        back = {
            "kind": "feed-forward", "of": "all", "activation": "identity",
            "weights": numbers(draw, 6, d), "bias": numbers(draw, 1, d)[0], "residual": False,
        }  # fmt: skip
        made += [group, gated, back]
    return made


def attends(draw: random.Random) -> dict[str, Any]:
    """Two heads of width 2."""
    heads = [{part: numbers(draw, d, 2) for part in ("query", "key", "value")} for _ in range(2)]
    return {
        "kind": "attention", "of": "all", "rule": "softmax", "heads": heads, "mask": None,
        "logit_unit": draw.choice(["1", "ln 2"]), "output": numbers(draw, 4, d), "residual": False,
    }  # fmt: skip


def parts(draw: random.Random) -> dict[str, Any]:
    gains = {"query_gain": numbers(draw, 1, 2)[0], "key_gain": numbers(draw, 1, 2)[0]}
    return {
        "kind": "general-attention", "root": 2, "norm": {"epsilon": "1/100"} | gains,
        "rotary": {"unit": "radian", "frequencies": ["7/9"]}, "cap": "3/2",
        "slopes": ["1/3", "1/7"], "tables": [numbers(draw, n, n) for _ in range(2)],
        "sinks": ["1/9", "-1/9"], "query_place": "last",
    }  # fmt: skip


def given(draw: random.Random) -> Any:
    return {"contexts": [numbers(draw, n, d) for _ in range(T)], "queries": numbers(draw, T, d)}
