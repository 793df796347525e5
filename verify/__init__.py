"""Claims about layers and networks, each with its evidence. The package imports `constructions`.

docs/architecture.md lists the packages. A reading order:

    questions, claims       the questions; the claims, their trace and the answer
    statements, prove       the statements of each proof; from data to proof
    rank, outputs, saturation, features     what the statements compute
    limits                  what is known if nothing was built
    certificates, checker   certificates, and the checker that judges them

Claims in a trace are records. The claims that certificates state are listed in checker/claims.py.
"""
