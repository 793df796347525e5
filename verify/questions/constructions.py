"""The names of the constructions of this project, in the order in which they are listed.

Options and help texts use the names without loading a construction. The record of a layer
construction is in the module of that name; the records of networks are in
verify/statements/networks.py.
"""

LAYERS = ("paper", "width-one", "affine", "generic")
NETWORKS = (
    "relu", "threshold-pairs", "derivative-pairs", "two-layers", "bits", "attention-relu",
)  # fmt: skip
RETRIEVAL = "retrieval"
OURS = (*LAYERS, *NETWORKS, RETRIEVAL)
OWN = "MODULE:NAME"  # a third-party construction
ATTACKED = tuple(
    name for name in OURS if name not in ("generic", RETRIEVAL)
)  # constructions whose theorem can fail
