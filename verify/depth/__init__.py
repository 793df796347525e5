"""The capacity of several layers of attention, bounded from above and from below."""
