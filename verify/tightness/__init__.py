"""What bounds memorization, and what does not: statements about *every* choice of weights.

| file | one idea |
| --- | --- |
| `flat.py` | the columns of Z: relations that hold for all weights, hence rank Z ≤ H·b + ρ - b |
| `rows.py` | the rows of Z: relations that hold for all weights, hence labels that are impossible |
| `shared.py` | shared contexts: the largest rank of Z exactly, and weights that reach it |
| `separated.py` | those weights: the proof's, for any distinct queries |
| `explore.py` | merely distinct queries: a search for a counterexample |
| `labels.py` | labels of rank above H·d_v |
| `given_labels.py` | given labels beyond the bounds on universal memorization |
| `probes.py` | random and adversarial weights to test such statements on |

*Universal* memorization (one choice of keys and queries for all labels) is what rank Z = T decides.
*Given labels* may be memorized beyond that; each claim says which of the two it is about. The
written proofs are in docs/tightness.md.
"""
