"""Origins of data that are not as given: the claims, words and certificate keys of each kind."""
