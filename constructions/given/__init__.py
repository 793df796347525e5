"""Weights for given labels: exact zeros and their law, which carry theorems; and a search in
float64 (least_squares, shared, attention), which is not evidence. `fit` and `capacity` call them;
nothing here returns a `Construction`."""
