"""Constructions as records of statements: hypotheses, steps, claims, and how each is decided."""
