"""Work that is cut into shards: on one core, on processes, on a cluster; see docs/scale-out.md.

shards: what a shard is, and how a job is cut. log: finished shards in a file that survives a kill.
engine: running shards through joblib. merge: logs of one job, written on several machines, united.
"""
