"""The report of a fit to given labels."""
