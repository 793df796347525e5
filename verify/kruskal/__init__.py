"""The Kruskal rank of vectors: bounds from both sides, and random subsets."""
