"""Bounds on memorization: statements about *every* choice of weights.

*Universal* memorization (one choice of keys and queries for all labels) is what rank Z = T decides.
*Given labels* may be memorized beyond that; each claim says which of the two it is about. The
written proofs are in docs/tightness.md.
"""
