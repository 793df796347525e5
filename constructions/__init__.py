"""Exact data sets and exact attention weights. The package imports neither verify nor reports.

    data                         data sets: read, rounded, generated
    exact                        the arithmetic that all of them use: integers, lattices, residues
    layer, construction          what a layer is; what a construction returns
    paper, width_one, generic    constructions of layers; `from_layer` starts from given weights
    readout                      the values of a layer; `verify` calls it
    network                      networks as sequences of blocks, and constructions of networks
    given                        weights for given labels; `fit` and `capacity` call it
    weights                      third-party weights: read from files, recorded from modules

The other modules serve all packages: errors, progress, signals (`endings`), untrusted text.
"""
