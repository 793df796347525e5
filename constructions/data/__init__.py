"""Data sets: T examples of (context, query, label), exact: from files, generators, digits."""
