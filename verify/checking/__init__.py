"""The plain and the fast check of certificates, which also run before an answer is returned."""
