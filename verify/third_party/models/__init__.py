"""Real models: the inputs of their layers, written to files that `attncert assume` reads."""
