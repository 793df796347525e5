"""Small cases against the statements about given labels, by code that shares nothing with them."""
