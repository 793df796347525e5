"""Where data come from: rounded numbers, token sequences, domains, blocks before a layer."""
