"""The commands. Those that answer questions share one file; every other has its own."""
