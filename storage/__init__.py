"""The log of a partition: segments, indexes, producer state, retention, compaction, recovery.

Record batches enter `PartitionLog`, and views of stored batches leave. A `PartitionLog` owns its segments and producer
state. Everything is synchronous and gets the time as an argument. `backend` is the contract of the medium, memory or a
Kafka log directory.
"""
