"""Decides whether the paper's assumptions hold for given queries and contexts, and what follows."""
