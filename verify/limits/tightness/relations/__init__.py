"""Relations between rows of Z that hold for every choice of weights, and random probes of its
rank."""
