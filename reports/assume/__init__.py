"""The report of `attncert assume`."""
