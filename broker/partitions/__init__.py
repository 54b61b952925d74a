"""The live partitions of a process: log, leadership, replicas, waiting readers, and their maintenance.

The metadata image decides which partitions exist (`PartitionRegistry`). Requests read and append through `Partition`,
which owns its log: every change goes through it, and it wakes the waiting readers. `maintenance` and `durability` work
on all partitions that hold data.
"""
