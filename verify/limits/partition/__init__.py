"""The partition condition, which the constructions need; it is decided in polynomial time."""
