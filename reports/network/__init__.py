"""The report of a network."""
