"""Real models as inputs: what their layers see, written to files that `attncert assume` reads."""
