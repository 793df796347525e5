"""Commands about certificates and their checkers."""
