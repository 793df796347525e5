"""Examples that share one context: the largest rank of Z, and heads that reach it."""
