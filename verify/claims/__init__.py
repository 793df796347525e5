"""Claims with evidence, the trace that connects them, and the rules for a finished trace."""
