"""The commands: those that answer questions in one file, each other command in its own."""
