"""The audit: edge cases, hypotheses weakened, planted defects, foreign layers, attacks."""
