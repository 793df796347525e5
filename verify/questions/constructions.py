"""The names of the constructions of this project, in the order of lists.

Options and help use them without loading a construction. The record of a layer is in the module of
its name, those of networks are in verify/statements/networks.py.
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
)  # theorems that can fail
