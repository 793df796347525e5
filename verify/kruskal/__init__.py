"""The Kruskal rank of vectors: bounds from both sides, and tests of random subsets."""
