"""The one table of the constructions of this project: their names, in the order of lists.

Options and help are written from it, and load no construction. A layer's record stands in the
module of its name beside this one, those of networks in verify/network/methods.py.
"""

LAYERS = ("paper", "width-one", "affine", "generic")
NETWORKS = (
    "relu", "threshold-pairs", "derivative-pairs", "two-layers", "bits", "attention-relu",
)  # fmt: skip
RETRIEVAL = "retrieval"
OURS = (*LAYERS, *NETWORKS, RETRIEVAL)
OWN = "MODULE:NAME"  # one's own
ATTACKED = tuple(name for name in OURS if name not in ("generic", RETRIEVAL))  # they promise
