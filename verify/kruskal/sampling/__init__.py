"""Random subsets, drawn as shards: what they show and what they do not."""
