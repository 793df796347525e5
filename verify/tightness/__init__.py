"""What bounds memorization, and what does not: statements about *every* choice of weights.

| file | one idea |
| --- | --- |
| `flat.py` | the columns of Z: relations that hold for all weights, hence rank Z ≤ H·b + ρ - b |
| `rows.py` | the rows of Z: relations that hold for all weights, hence labels that are impossible |
| `sums.py` | the relations among them that come from equal sums of rows; are these all? |
| `labels.py` | labels of rank above H·d_v |
| `shared.py` | shared contexts: the largest rank of Z exactly, and weights that reach it |
| `separated.py` | those weights: the proof's, for any distinct queries |
| `explore.py` | merely distinct queries: a search for a counterexample |
| `given_labels.py` | given labels beyond the bounds on universal memorization |
| `probes.py` | random and adversarial weights to test such statements on |
| `values.py` | values narrower than the labels: what they forbid |
| `universal.py` | the least of the bounds; some weights, no weights, or undecided |
| `impossibility.py` | both verdicts, universal and given, for a layer of any sizes |
| `limits.py` | the claims of a refusal: the limits that hold for all weights |
| `studies.py` | all claims on one data set, for `attncert tightness` |
| `section.py` | impossibility as a section of the audit |

*Universal* memorization (one choice of keys and queries for all labels) is what rank Z = T decides.
*Given labels* may be memorized beyond that; each claim says which of the two it is about. The
written proofs are in docs/tightness.md.
"""
