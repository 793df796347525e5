"""The origin of data: rounding, token sequences, domains, or blocks before a layer."""
