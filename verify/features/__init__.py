"""Logits, softmax weights and features of a layer, recomputed from data and weights alone."""
