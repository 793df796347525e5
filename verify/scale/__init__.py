"""Work that is cut into shards: on threads, on a cluster; see docs/commands.md.

shards: what a shard is, and how a job is cut. engine: running shards on threads or through Dask.
log: finished shards in a file that survives a kill.
"""
