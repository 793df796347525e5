"""The questions of the commands, one frozen record for each. The package imports nothing heavy."""
