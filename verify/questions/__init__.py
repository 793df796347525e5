"""The questions of the commands, one frozen record for each. Importing it is fast."""
