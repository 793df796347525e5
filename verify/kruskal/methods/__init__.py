"""Methods that raise the lower end of the interval or lower its upper end, one per file."""
