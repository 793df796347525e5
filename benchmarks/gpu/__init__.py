"""What a GPU is wanted for, in parts that can be resumed: `make gpu`, docs/performance.md."""
