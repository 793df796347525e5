"""The audit: edge cases, and what is known about a user's data, step by step."""
