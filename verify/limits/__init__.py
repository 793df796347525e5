"""What heads and layers can memorize: bounds for all weights, and weights that reach them."""
