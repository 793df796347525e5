"""Logits, softmax weights and features of a layer, recomputed only from data and weights."""
