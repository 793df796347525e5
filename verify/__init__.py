"""What is CONFIRMED: claims about what was built, each with its evidence. Imports constructions.

To read, in this order:

    questions, claims               what is asked; claims, their trace, the answer
    methods, steps                  a record for each construction; the steps of its proof
    prove, pipeline                 from data to proof: one page, and the stages of a layer
    saturation, rank, interpolation what steps and stages compute, from `features` and `tables`
    tightness, partition            what is known where nothing was built
    origins                         data that were rounded, or come from elsewhere
    network                         the same for networks
    certificate, checker            what is written, and what judges it; `fast`, `coq` judge too
    kruskal, assume, capacity, near, labelling, layer, attack, audit, models    other questions

A claim is a record of the trace; that of a certificate (a key, and an option) is a line of
checker/claims.py.
"""
