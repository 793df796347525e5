"""Relations between rows of Z that hold for all weights, and random probes of its rank."""
