"""A layer from elsewhere: its error, what each head does, and what of the proof it follows."""
