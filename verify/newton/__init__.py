"""Real weights near given weights that output the labels exactly: Newton and Kantorovich in
balls."""
