"""Work that is cut into shards: on one core, on processes, on a cluster; see docs/commands.md.

shards: what a shard is, and how a job is cut. engine: running shards through joblib or Dask. log:
finished shards in a file that survives a kill.
"""
