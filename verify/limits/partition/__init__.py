"""The partition condition: what the constructions need of the queries, in polynomial time."""
