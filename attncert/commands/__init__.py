"""The commands: questions in one file, each other command in its own."""
