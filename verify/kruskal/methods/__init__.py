"""Methods that raise the lower end of the Kruskal rank or lower the upper end, one per file."""
