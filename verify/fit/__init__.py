"""`attncert fit`: weights for given labels, and real weights enclosed near them."""
