"""Certificates: what is written, with which versions, and what Coq proves of them."""
