"""The capacity of heads and layers: bounds for all weights, and weights that reach them."""
