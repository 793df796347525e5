"""What is built: exact data sets and exact attention weights. Imports neither verify nor reports."""
