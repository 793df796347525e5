"""Third-party attention weights: from files and modules of several formats, taken exactly."""
