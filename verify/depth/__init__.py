"""What several layers of attention memorize: the law of their parameters, from both sides."""
