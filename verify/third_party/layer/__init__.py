"""A third-party layer: its error, the work of each head, and a comparison with the proof."""
