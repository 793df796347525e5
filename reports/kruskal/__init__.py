"""The report of `attncert kruskal`: the page, and what it says in single sentences."""
