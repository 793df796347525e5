"""The capacity report."""
