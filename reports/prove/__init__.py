"""The report of a proof: its page, tables, figures and graph, and the same content as data."""
