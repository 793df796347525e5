"""The records of constructions, their registry, and how they are judged."""
