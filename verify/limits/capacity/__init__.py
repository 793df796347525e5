"""How much H heads can do on these data: the capacity law, from both sides."""
