"""The outputs of a network: equality with the labels, errors, nearest labels.

| route to equality | arithmetic | what it confirms |
| --- | --- | --- |
| `rational.rational` | exact over ℚ, FLINT | the outputs equal the labels |
| `symbolic.symbolic` | SymPy | the same, with exp(k ln 2) simplified |
| `multiprecision.multiprecision` | intervals (mpmath), balls (Arb) | agreement to 2^-1000 |
"""
