"""A third-party layer: its error, the work of each head, and how it compares with the proof."""
