"""The rank of a layer's feature matrix, computed in row blocks within a memory budget."""
