"""The queries' independence: what memorization needs of it, one method per file."""
