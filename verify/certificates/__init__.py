"""Certificates: their content, the versions in them, and the theorems in Coq about them."""
