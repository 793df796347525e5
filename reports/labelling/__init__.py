"""The report of `attncert fit --every-labelling`."""
