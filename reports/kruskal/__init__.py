"""The report of `attncert kruskal`."""
