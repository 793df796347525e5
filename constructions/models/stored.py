"""A model's stored weights, from safetensors files: those that no file has are not made up."""

from __future__ import annotations

import hashlib
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.errors import InputError
from attncert.constructions.models.embeddings import file_sha256


def stored(transformers: Any, name: str, config: Any) -> tuple[Any, tuple[str, ...]]:
    """The model, and which of its weights no file has. The library draws those at random, without a
    seed; here they are NaN, so that nothing can depend on them unseen. A model's last steps, which
    no state depends on, are often left out: BERT's pooler is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", "Casting complex")  # takes half of the numbers away
            model, found = transformers.AutoModel.from_pretrained(
                name, config=config, use_safetensors=True, dtype="float32",
                trust_remote_code=False, output_loading_info=True,
            )  # fmt: skip
        state, absent = model.state_dict(), tuple(sorted(found["missing_keys"]))
        for key in absent:
            if state[key].is_floating_point():
                state[key].fill_(np.nan)
        return model, absent
    except Exception as error:  # whatever a file made by anyone leads the libraries to
        must = "a model whose weights are in safetensors files"
        raise InputError("MODEL", must, f"{name} ({error})") from None


def weights_sha256(name: str) -> str:
    """Of the weights' files in a local folder; of the hub the revision says which they are."""
    files = sorted(Path(name).glob("*.safetensors")) if os.path.isdir(name) else []
    digests = [file_sha256(path) for path in files]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode()).hexdigest() if digests else "see revision"
