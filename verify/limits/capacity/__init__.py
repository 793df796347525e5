"""How much H heads can memorize on given data: the capacity law, from both sides."""
