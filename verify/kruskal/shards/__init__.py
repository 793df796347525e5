"""Work on sets of vectors cut into shards: random subsets, and all sets of one size."""
