"""What constructions look for: groups, selectors and separators, steering vectors, targets."""
