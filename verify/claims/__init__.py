"""Claims with evidence, the trace that joins them, and the rules that a finished trace obeys."""
