"""Rank and independence, one arithmetic per file.

modular:  many subsets, prefixes and single matrices, certified modulo primes (CPU threads, GPU).
rational: exact rank, null vectors and relations over Q.
ball:     enclosed full row rank, solutions and smallest singular value.
floating: numerical rank, and independence against the rounding of the data.

Nothing is imported here, so that `constructions.exact.primes` costs no compiler.
"""
