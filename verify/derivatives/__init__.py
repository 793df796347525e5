"""Networks of blocks and their derivatives by all weights, written once for every arithmetic."""
