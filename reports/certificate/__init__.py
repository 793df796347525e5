"""A certificate in words, and two of them side by side."""
