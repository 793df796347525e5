"""A search for small degenerate data on which a construction fails."""
