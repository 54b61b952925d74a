"""The log of a partition: segments, indexes, producer state, retention, compaction, recovery.

Record batches enter `PartitionLog`, and views of stored batches leave. A `PartitionLog` owns its segments, producer
state, aborted transactions and leader epochs. Everything is synchronous and gets the time as an argument. `backend` is
the contract of the medium: memory, or a Kafka log directory. No backend knows a rule of a log.
`tests/storage/log_model.py` is the model that every backend must satisfy, also over restarts.

Append (`partition_log`, `validation`, `producer_state`). The 61-byte header becomes a `RecordBatch`, the one type for
a batch everywhere. The log checks the header, the checksum, the records (field by field up to 32 of them, by their
lengths in larger batches), the producer and the sequence. Only then does it copy the batch, once, into the segment,
with base offset and leader epoch in place. A failed check changes nothing. A batch is rewritten only where the topic
requires it: append time, another codec, a wrong largest timestamp.

Read (`segment`). The sparse index is followed by a walk over at most `index.interval.bytes` of batch headers. A hint
spares a reader that continues where it stopped the search. The result is a few memoryviews. Stored batches never move,
so a view in a socket's queue stays valid while others append.

Transactions. The open ones, by first offset, give the last stable offset. The marker of an aborted transaction enters
the index of its segment. A look-up searches by the marker's offset and stops at the first entry whose last stable
offset lies beyond the range.

Compaction is a generator. It yields every 64 KiB so that the maintenance task can serve requests, and gives up when
retention or a deletion takes its segments. Its results were compared, batch by batch, with those of a real cleaner
(`tests/vectors/compaction.json.gz`).

Memory (`memory_backend`, `chunks`, `backing_file`). A segment is a list of chunks. All logs of a cluster share one
`ChunkPool`. When `odradek.memory.bytes` are in memory, the oldest chunks move to one unnamed temporary file.

Disk (`disk_backend`, `recovery`). Kafka's files, written and recovered as Kafka does it. All calls to the system go
through `FileSystem`, which tests replace: `tests/storage/test_disk_backend.py` stops at every single call of
appending, rolling, compaction and deletion, and `tests/crash` kills a process under load.
"""
