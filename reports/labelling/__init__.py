"""The report of `attncert every-labelling`."""
