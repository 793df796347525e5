"""The capacity of several layers of attention: the law of their parameters, from both sides."""
