"""Bounds on memorization: statements about *every* choice of weights.

The rank of Z decides *universal* memorization (one choice of keys and queries for all labels).
*Given labels* may be memorized even if rank Z < T; each claim says which of the two it is about.
docs/tightness.md contains the proofs.
"""
