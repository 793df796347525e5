"""Real weights that output the labels exactly, near given weights: Newton and Kantorovich, in
balls."""
