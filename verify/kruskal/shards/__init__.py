"""Shards of work on sets of vectors: random subsets, and all sets of one size."""
