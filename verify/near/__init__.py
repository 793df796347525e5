"""These labels: real weights that output them exactly exist near the given ones (enclosed)."""
