"""`attncert compare`: the costs of all constructions on the same data."""
