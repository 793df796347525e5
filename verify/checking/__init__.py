"""Checks of certificates by the plain checker or the fast check, also before any answer is
returned."""
