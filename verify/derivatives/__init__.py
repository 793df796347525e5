"""Networks of blocks and their derivatives in all weights, written once over an arithmetic."""
