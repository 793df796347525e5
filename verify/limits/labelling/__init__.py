"""Every labelling of given examples: weights with outputs 0 at which the Jacobian is onto."""
