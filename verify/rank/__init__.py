"""Rank and independence, with one file for each arithmetic.

| input | function | what it proves |
| --- | --- | --- |
| one table | `modular.modular_rank` | a rank over ℚ at least that mod p |
| many subsets of vectors | `modular.IndependenceTester` | which are independent, mod primes |
| one table | `rational.rank`, `.find_relation` | the rank; dependence, by a relation |
| a layer, Z (T×Hd) small | `verify.features.rank_of` | rank Z at least that mod p |
| a layer, Z large | `whole_layer.layer.layer_rank` | the same, in row blocks on CPU or GPU |
| its derivatives J | `whole_layer.jacobian_rows.jacobian_rank` | rank J at least that mod p |
| balls | `ball.smallest_singular_value` | full row rank, enclosed |
| floats | `assume.spectra.Spectrum` | nothing: numerical |

All use `residues` (any table mod p) and `engines` (the elimination on CPU threads and on a GPU).
This file imports nothing, so that `constructions.exact.primes` loads no compiler.
"""
