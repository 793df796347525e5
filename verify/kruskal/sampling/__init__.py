"""Random subsets and random bases, drawn as shards: what they show and what they do not."""
