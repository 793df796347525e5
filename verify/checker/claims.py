"""The table of claims, the envelope of a certificate, and the verdict on a file."""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import Any

from . import (
    every_labelling,
    full_rank,
    interpolation,
    near,
    nearest,
    network,
    relations,
    sequences,
)
from .limits import LIMIT_MIB, LIMIT_SECONDS, Limits, Rejected, need
from .origin import data_file, domain, rounding
from .reading import MAX_ITEMS, contents, same_digests, typed, values

Verdict = namedtuple("Verdict", "status claim message numbers")
EXIT = {"holds": 0, "wrong": 1, "unusable": 2, "over limit": 3}

# Of a claim that a certificate makes: its own keys; keys of `data`; those of `dims`; what reads the
# numbers, and refuses those that contradict the claim at sight; what judges them.
ClaimKind = namedtuple("ClaimKind", "keys data dims parts judge")
LAYER = ("contexts queries labels", "examples context width labels heads head_width value_width")
NETWORK = "examples context width labels"
CLAIMS = {
    "interpolation": ClaimKind("layer groups", *LAYER, interpolation.parts, interpolation.judge),
    "full-rank": ClaimKind("layer groups rank", *LAYER, full_rank.parts, full_rank.judge),
    "interpolation-near": ClaimKind("layer near", *LAYER, near.parts, near.judge),
    "every-labelling": ClaimKind(
        "layer groups rank", *LAYER, every_labelling.parts, every_labelling.judge
    ),
    "dependent-set": ClaimKind(
        "relation", "vectors", "vectors width", relations.dependence, relations.dependent_set
    ),
    "impossible": ClaimKind("relation", LAYER[0], NETWORK, relations.tied, relations.impossible),
    "network": ClaimKind("network", LAYER[0], NETWORK, network.parts, network.judge),
    "outputs-within": ClaimKind("network within", LAYER[0], NETWORK, network.parts, network.judge),
    "nearest": ClaimKind("network nearest", LAYER[0], NETWORK, nearest.parts, nearest.judge),
}
ENVELOPE = "format claim construction dims data produced_by input_sha256 digest"
FORMATS = {  # their further keys, each null where it says nothing
    "attncert/1": "",
    "attncert/2": "saturation rounding data_file",
    "attncert/3": "saturation origin data_file tokens",
}

ORIGINS = {"rounded": "grid largest_change data", "domain": "contexts queries"}


def parse(path: str, limits: Limits) -> dict[str, Any]:
    """The certificate, with the right keys and its dims in order; data in a file are not read."""
    cert = values(contents(path), limits)
    kind: Any = type(cert) is dict and cert.get("format")
    need(kind in list(FORMATS), "the format is not attncert/1, attncert/2 or attncert/3")
    need(cert.get("claim") in list(CLAIMS), f"the claim must be one of: {', '.join(CLAIMS)}")
    claim = CLAIMS[cert["claim"]]
    third = kind == "attncert/3"
    need(third or "network" not in claim.keys, f"{cert['claim']} is a claim of attncert/3")
    keys = claim.keys.replace("layer", "network") if third else claim.keys
    typed(cert, dict, "the certificate", f"{ENVELOPE} {keys} {FORMATS[kind]}".rstrip())
    if cert.get("data_file") is None:
        typed(cert["data"], dict, "data", data_keys(cert, cert["data"]))
    else:
        typed(cert["data_file"], dict, "data_file, if not null,", "name bytes")
        need(cert["data"] is None, "data must be null where there is a data_file")
    for name, number in typed(cert["dims"], dict, "dims", claim.dims).items():
        need(0 < typed(number, int, "dims") <= MAX_ITEMS, f"dims.{name} must be 1 to {MAX_ITEMS}")
    return cert | {"dims": {name: cert["dims"][name] for name in claim.dims.split()}}


def data_keys(cert: dict[str, Any], data: Any) -> str:
    """Of contexts and queries, or in `attncert/3` of sequences in their place."""
    keys: str = CLAIMS[cert["claim"]].data
    listed = cert["format"] == "attncert/3" and keys == LAYER[0]
    return sequences.KEYS if listed and type(data) is dict and "sequences" in data else keys


def with_prefixes(cert: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """With contexts and queries in the place of sequences."""
    return sequences.prefixes(cert, limits) if "sequences" in cert["data"] else cert


def with_origin(cert: dict[str, Any]) -> dict[str, Any]:
    """With the keys that `attncert/2` has for the origin: `rounding`; and `domain`."""
    if cert["format"] != "attncert/3":
        return cert
    before = cert["origin"]
    kind: Any = before.get("kind") if type(before) is dict else None
    need(before is None or kind in list(ORIGINS), "origin.kind must be rounded or domain")
    if before is not None:
        typed(before, dict, "origin", f"kind {ORIGINS[kind]}")
        before = {key: before[key] for key in before if key != "kind"}
    domain = before if kind == "domain" else None
    return cert | {"rounding": None if domain else before, "domain": domain}


def with_layer(cert: dict[str, Any]) -> dict[str, Any]:
    """Of a claim about a layer, the last block of the network as `layer`."""
    if "layer" not in CLAIMS[cert["claim"]].keys or "network" not in cert:
        return cert
    blocks = typed(cert["network"], list, "network")
    need(blocks, "network must be one block or more")
    return cert | {"layer": layer_of(blocks[-1], cert["claim"] != "full-rank")}


def layer_of(block: Any, readout: bool) -> dict[str, Any]:
    """The block, if it is a layer; without `readout` its values and its output are null."""
    typed(block, dict, "the last block of network", network.KEYS["attention"])
    *plain, mask, residual = (block[key] for key in ["kind", "of", "rule", "mask", "residual"])
    known = plain == ["attention", "query", "softmax"] and mask is None and residual is False
    need(known, "the last block must be attention of query by softmax, without mask and residual")
    layer = {key: block[key] for key in ("logit_unit", "heads", "output")}
    if not readout:
        heads = typed(layer["heads"], list, "heads", "key query value")
        none = [layer.pop("output"), *(head["value"] for head in heads)]
        need(all(x is None for x in none), "value and output must be null in full-rank")
        layer["heads"] = [{key: head[key] for key in ("key", "query")} for head in heads]
    return layer


def judge(cert: dict[str, Any], limits: Limits) -> str:
    """What holds, or Rejected."""
    claim = CLAIMS[cert["claim"]]
    message: str = claim.judge(cert, claim.parts(cert, limits), limits)
    return message


def check_file(
    path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB,
    by: Callable[[dict[str, Any], Limits], str] = judge, tables: Any = None,
) -> Verdict:  # fmt: skip
    """Check the certificate at `path`; whatever the file holds, a Verdict comes back."""
    status, cert = "holds", dict[str, Any](claim=None, dims={})
    try:
        limits = Limits(limit_seconds, limit_mib)
        cert = parse(path, limits)
        same_digests(cert)
        cert = with_origin(cert)
        if cert.get("data_file"):
            cert["data"] = data_file(cert, path, limits, tables, partial(data_keys, cert))
        cert = with_prefixes(cert, limits)
        more = rounding(cert, limits) + domain(cert, limits)
        cert = with_layer(cert)
        if "layer" in cert and len(cert.get("network", "")) > 1:
            behind = network.Derived(cert, limits)
            cert["data"] = cert["data"] | {"contexts": behind, "queries": behind}
        message = by(cert, limits) + more
    except Rejected as rejected:
        status, message = rejected.args
    except (MemoryError, OverflowError) as error:
        status, message = "over limit", type(error).__name__
    except Exception as error:  # of reading, of a type somewhere: no claim was checked
        status, message = "unusable", f"{type(error).__name__}: {str(error)!a:.200}"
    return Verdict(status, cert["claim"], message, cert["dims"])
