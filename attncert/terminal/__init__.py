"""What the commands share: lines, JSON, progress, durations and standard input."""
