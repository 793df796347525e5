"""Saturation on demand: every earlier example attends to one row with 1 - p < 2^-B."""
