"""Networks of blocks and their derivatives by all weights, written once over an arithmetic."""
