"""Long searches in shards, on threads or Dask, with a log of finished shards."""
