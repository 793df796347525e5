"""Certificates: their content, the versions in them, and the theorems of Coq about them."""
