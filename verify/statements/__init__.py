"""Records of constructions: their hypotheses, steps and claims, and how each is decided."""
