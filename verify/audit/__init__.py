"""The audit: edge cases, and an examination of a user's data, step by step."""
