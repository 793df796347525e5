"""The audit: the purpose of each hypothesis, and attacks on a construction."""
