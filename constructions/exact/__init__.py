"""Exact arithmetic that every construction uses: integer arrays, lattices, residues."""
