"""Checks of a layer: hypotheses, conclusions, and the steps that several proofs share."""
