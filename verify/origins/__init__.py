"""Where data come from that are not as given: claims, words and certificate keys of each kind."""
