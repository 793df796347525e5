"""The table of claims, the envelope of a certificate, and the verdict on a file."""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import Any

from . import (
    blocks,
    every_labelling,
    full_rank,
    layer,
    near,
    nearest,
    network,
    network_near,
    network_rank,
    relations,
    sequences,
)
from .limits import LIMIT_MIB, LIMIT_SECONDS, Limits, Rejected, need
from .origin import data_file, origin
from .reading import MAX_ITEMS, contents, same_digests, typed, values

Verdict = namedtuple("Verdict", "status claim message numbers")
EXIT = {"holds": 0, "wrong": 1, "unusable": 2, "over limit": 3}

# A kind of claim: its own keys, the keys of `data` and of `dims`, the function that reads the
# numbers and refuses obvious contradictions, and the function that judges the claim.
ClaimKind = namedtuple("ClaimKind", "keys data dims parts judge")
LAYER = ("contexts queries labels", "examples context width labels heads head_width value_width")
NETWORK = "examples context width labels"
CLAIMS = {
    "interpolation": ClaimKind("network groups", *LAYER, layer.parts, layer.judge),
    "full-rank": ClaimKind("network groups rank", *LAYER, full_rank.parts, full_rank.judge),
    "interpolation-near": ClaimKind("network near", *LAYER, near.parts, near.judge),
    "every-labelling": ClaimKind(
        "network groups rank", *LAYER, every_labelling.parts, every_labelling.judge
    ),
    "dependent-set": ClaimKind(
        "relation", "vectors", "vectors width", relations.dependence, relations.dependent_set
    ),
    "impossible": ClaimKind("relation", LAYER[0], NETWORK, relations.tied, relations.impossible),
    "network": ClaimKind("network", LAYER[0], NETWORK, network.parts, network.judge),
    "outputs-within": ClaimKind("network within", LAYER[0], NETWORK, network.parts, network.judge),
    "network-near": ClaimKind(
        "network near", LAYER[0], NETWORK, network_near.parts, network_near.judge
    ),
    "network-rank": ClaimKind(
        "network rank", LAYER[0], NETWORK, network_rank.parts, network_rank.judge
    ),
    "nearest": ClaimKind("network nearest", LAYER[0], NETWORK, nearest.parts, nearest.judge),
    "generates": ClaimKind(
        "network nearest domain", LAYER[0], NETWORK, nearest.domain_parts, nearest.domain_judge
    ),
}
ENVELOPE = "format claim construction dims data produced_by input_sha256 digest"
ENVELOPE += " saturation origin data_file tokens"  # each is null if not used
FORMAT = "attncert/3"


def parse(path: str, limits: Limits) -> dict[str, Any]:
    """The certificate with its keys checked and its dims in order. A data file is not read yet."""
    cert = values(contents(path), limits)
    need(type(cert) is dict and cert.get("format") == FORMAT, f"format must be {FORMAT}")
    need(cert.get("claim") in list(CLAIMS), f"the claim must be one of: {', '.join(CLAIMS)}")
    claim = CLAIMS[cert["claim"]]
    typed(cert, dict, "the certificate", f"{ENVELOPE} {claim.keys}")
    if cert["data_file"] is None:
        typed(cert["data"], dict, "data", data_keys(cert, cert["data"]))
    else:
        typed(cert["data_file"], dict, "data_file, if not null,", "name bytes")
        need(cert["data"] is None, "data must be null if there is a data_file")
    for name, number in typed(cert["dims"], dict, "dims", claim.dims).items():
        need(0 < typed(number, int, "dims") <= MAX_ITEMS, f"dims.{name} must be 1 to {MAX_ITEMS}")
    return cert | {"dims": {name: cert["dims"][name] for name in claim.dims.split()}}


def data_keys(cert: dict[str, Any], data: Any) -> str:
    """The keys that `data` must have: contexts and queries, or sequences instead."""
    keys: str = CLAIMS[cert["claim"]].data
    listed = keys == LAYER[0] and type(data) is dict and "sequences" in data
    return sequences.KEYS if listed else keys


def with_prefixes(cert: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """The certificate with its sequences, if any, replaced by contexts and queries."""
    return sequences.prefixes(cert, limits) if "sequences" in cert["data"] else cert


def with_layer(cert: dict[str, Any]) -> dict[str, Any]:
    """The certificate, with the last block of the network as `layer` if the claim is about a
    layer."""
    if "heads" not in cert["dims"]:
        return cert
    network = typed(cert["network"], list, "network")
    need(network, "network must have at least one block")
    last = typed(network[-1], dict, "the last block of network", blocks.KEYS["attention"])
    *plain, mask, residual = (last[key] for key in ["kind", "of", "rule", "mask", "residual"])
    known = plain == ["attention", "query", "softmax"] and mask is None and residual is False
    need(known, "the last block must be softmax attention of the query, without mask or residual")
    unit = "1" if "near" in cert else "ln 2"
    need(last["logit_unit"] == unit, f"logit_unit of the last block must be {unit!r}")
    heads = typed(last["heads"], list, "heads", "key query value")
    if cert["claim"] == "full-rank":
        none = all(x is None for x in [last["output"], *(head["value"] for head in heads)])
        need(none, "value and output must be null in full-rank")
    return cert | {"layer": last}


def judge(cert: dict[str, Any], limits: Limits) -> str:
    """The statement that was checked. Raises Rejected."""
    claim = CLAIMS[cert["claim"]]
    message: str = claim.judge(cert, claim.parts(cert, limits), limits)
    return message


def check_file(
    path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB,
    by: Callable[[dict[str, Any], Limits], str] = judge, tables: Any = None,
) -> Verdict:  # fmt: skip
    """Check the certificate at `path`. The result is a Verdict, whatever the file contains."""
    status, cert = "holds", dict[str, Any](claim=None, dims={})
    try:
        limits = Limits(limit_seconds, limit_mib)
        cert = parse(path, limits)
        same_digests(cert)
        if cert["data_file"]:
            cert["data"] = data_file(cert, path, limits, tables, partial(data_keys, cert))
        cert = with_prefixes(cert, limits)
        more = origin(cert, limits)
        cert = with_layer(cert)
        if "layer" in cert and len(cert["network"]) > 1:
            behind = network.Derived(cert, limits)
            cert["data"] = cert["data"] | {"contexts": behind, "queries": behind}
        message = by(cert, limits) + more
    except Rejected as rejected:
        status, message = rejected.args
    except (MemoryError, OverflowError) as error:
        status, message = "over limit", type(error).__name__
    except Exception as error:  # unreadable, or a value has a wrong type: no claim was checked
        status, message = "unusable", f"{type(error).__name__}: {str(error)!a:.200}"
    return Verdict(status, cert["claim"], message, cert["dims"])
