"""Sentences, numbers, levels and witnesses, as every report writes them."""
