"""What is BUILT: exact data sets, exact attention weights. Imports neither verify nor reports."""
