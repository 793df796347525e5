"""Every labelling of given examples: weights at which all outputs are 0 and the Jacobian is
onto."""
