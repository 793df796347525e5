"""Everything that a GPU is wanted for, in parts that can be resumed: `make gpu`, docs/gpu.md."""
