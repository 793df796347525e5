"""The audit: edge cases, hypotheses weakened, third-party layers, attacks."""
