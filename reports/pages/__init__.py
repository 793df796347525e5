"""The page of each command's report, in the module of its name."""
