"""Certificates: their content, the versions in them, and the Coq theorems about them."""
