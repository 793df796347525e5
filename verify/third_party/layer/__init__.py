"""A third-party layer: its error, the worth of each head, and a comparison with the proof."""
