"""The readout ZV = Y: solved exactly, or in float64 where its numbers are too long."""
