"""Methods that raise the lower end of the interval or lower the upper end, one per file."""
