"""The searches of constructions: groups, selectors and separators, steering vectors, targets."""
