"""Real weights near given ones that output the labels exactly: Newton and Kantorovich, in balls."""
