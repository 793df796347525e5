"""Long searches in shards, on threads or on Dask."""
