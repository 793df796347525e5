"""The rank of the feature matrix of a whole layer, computed in row blocks within a memory
budget."""
