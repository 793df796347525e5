"""The page of each command's report, in a module named after the command."""
