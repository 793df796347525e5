"""Weights for given labels: exact zeros and the dimension count, on which theorems rest; and a
search in float64 (least_squares, shared, attention), which is not evidence. `fit` and `capacity`
call them; nothing here returns a `Construction`."""
