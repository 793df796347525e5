"""The fast check of certificates: NumPy, BLAS and FLINT instead of Python's integers."""
