"""Inputs of the layers of real models, written to files that `attncert assume` reads."""
