"""Relations between rows of Z, and between its columns, that hold for every choice of weights."""
