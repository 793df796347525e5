"""The modular elimination on CPU threads and on CUDA."""
