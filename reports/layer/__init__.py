"""The report of third-party weights."""
