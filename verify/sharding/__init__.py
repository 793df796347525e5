"""Long sweeps in shards: threads, Dask, and a log of what is finished."""
