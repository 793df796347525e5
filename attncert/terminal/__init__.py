"""Code that the commands share: lines, JSON, progress and standard input."""
