"""Judging a certificate: the plain checker, the fast check, and both before any answer."""
