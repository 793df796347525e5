"""The partition condition on the queries, which the constructions need; it is decided in polynomial
time."""
