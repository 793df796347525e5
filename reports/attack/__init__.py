"""The report of an attack."""
