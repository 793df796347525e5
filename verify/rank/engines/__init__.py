"""The modular elimination on CPU threads, on any array library and on CUDA."""
