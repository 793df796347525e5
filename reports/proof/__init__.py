"""The report of a proof: page, tables, figures, graph, and the same as data."""
