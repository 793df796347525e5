"""How sentences, numbers, levels and witnesses are written in every report."""
