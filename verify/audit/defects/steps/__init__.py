"""Errors in the steps of a construction: those that all share, and those of one alone."""
