"""What can be asked: one frozen record for each question. Imports nothing heavy."""
