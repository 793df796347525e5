"""Checks of layers and networks: hypotheses, shared steps and conclusions."""
