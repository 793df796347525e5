"""The stages of `prove`."""
