"""How many examples H heads memorize: measured, counted, and beside the published bounds."""
