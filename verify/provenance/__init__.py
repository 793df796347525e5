"""The origin of data: rounded numbers, token sequences, domains, blocks before a layer."""
