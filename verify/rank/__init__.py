"""Rank and independence, with one file for each arithmetic.

| input | function | what it proves |
| --- | --- | --- |
| one table | `modular.modular_rank` | a lower bound on the rank over ℚ |
| many subsets of vectors | `modular.IndependenceTester` | which of them are independent |
| one table | `rational.rank`, `.find_relation` | the rank; dependence, by a relation |
| a layer, Z (T×Hd) small | `verify.features.rank_of` | a lower bound on rank Z |
| a layer, Z large | `whole_layer.layer.layer_rank` | the same, in blocks of rows on CPU or GPU |
| its derivatives J | `whole_layer.jacobian_rows.jacobian_rank` | a lower bound on rank J |
| balls | `ball.smallest_singular_value` | full row rank, enclosed |
| floats | `assume.spectra.Spectrum` | nothing: numerical |

All of these use `residues` (any table mod p) and `engines` (elimination on CPU threads or a GPU).
This file imports nothing, so that `constructions.exact.primes` loads no compiler.
"""
