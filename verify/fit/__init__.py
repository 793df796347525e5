"""`attncert fit`: weights for given labels, and exact real weights enclosed near them."""
