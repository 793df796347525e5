"""The audit: the purpose of each hypothesis, and an examination of a user's data."""
