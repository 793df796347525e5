"""The rank of a whole layer's feature matrix, in row blocks within a memory budget."""
