"""The audit's report."""
