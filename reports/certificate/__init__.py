"""A certificate in words."""
