"""Weights for given labels: exact zeros and their law, which carry theorems; and descents in
float64 (least_squares, adam, attention), which are no evidence. `fit` and `capacity` call them;
nothing here returns a `Construction`."""
