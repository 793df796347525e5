"""Claims about what was built, each with its evidence. Imports constructions.

docs/architecture.md lists the packages. Read them in this order:

    questions, claims       what is asked; claims, their trace, the answer
    statements, prove       the statements of each proof; from data to proof
    rank, outputs, saturation, features     what the statements compute
    limits                  what is known if nothing was built
    certificates, checker   what is written, and what judges it

A claim of a trace is a record; a claim that a certificate states is a line of checker/claims.py.
"""
