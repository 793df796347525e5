"""What is CONFIRMED: claims about what was built, each with its evidence. Imports constructions.

To read, in this order:

    questions, claims               what is asked; claims, their trace, the answer
    prove, pipeline                 how a layer is proved: one page, and its stages
    methods, steps                  a record for each construction; the steps of its proof
    saturation, rank, interpolation what steps and stages compute, from `features` and `tables`
    tightness, partition            what is known where nothing was built
    origins                         data that were rounded, or come from elsewhere
    network                         the same for networks
    certificate, checker            what is written, and what judges it; `fast`, `coq` judge too
    kruskal, assume, capacity, near, labelling, layer, attack, audit, models    other questions

A `Method` is the record of a construction, a `Construction` what it built for some data. A claim is
a record of the trace; that of a certificate (a key, and an option) is a line of checker/claims.py.
"""
