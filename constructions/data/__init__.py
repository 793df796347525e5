"""Data sets of T exact examples (context, query, label): from files, generators and digits."""
