"""The commands: those that answer questions share one file, and each of the others has its own."""
