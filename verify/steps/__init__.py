"""The steps of the proofs, each a check of what was built; one file for each construction."""
