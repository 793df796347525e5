"""Networks of blocks and their derivatives with respect to all weights, for every arithmetic."""
