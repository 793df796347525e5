"""`attncert compare`: what each construction costs on the same data."""
