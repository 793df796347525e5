"""The report of `attncert tightness`."""
