"""The audit: edge cases, and what is known of a user's data, step by step."""
