"""The questions of the commands: one frozen record for each. Imports nothing heavy."""
