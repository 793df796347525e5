"""Commands about certificates and what checks them."""
