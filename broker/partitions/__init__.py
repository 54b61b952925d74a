"""The live partitions of a process: log, leadership, replicas, waiting readers, and their maintenance.

The metadata image decides which partitions exist: `PartitionRegistry` makes, grows, moves and deletes them as a
publisher. A handler finds a `Partition` with one dictionary look-up. A `Partition` owns its log, its leadership and
its waiting readers. All writes go through it, from clients, coordinators and DeleteRecords alike. They are
synchronous, change the log and wake the readers, so the two can't come apart. A log is opened with its first use, so
ten thousand idle partitions cost 30 us and 0.7 KB each. After a restart one task opens the logs that hold data, one by
one, for retention and compaction.

Waiting readers. A Fetch is parked only when there is less data than its client wants to wait for. It registers one
`Waiter` with each of its partitions. The waiter counts down the missing bytes, so an append below `min_bytes` does not
wake it. Only the last stable offset wakes a read_committed reader. A stop, a deleted topic or a new leader wakes every
reader. A woken fetch reads everything again: it keeps nothing of what it saw before.

Transactions. A transactional batch is appended only with the consent of its coordinator, unless the log knows the
transaction already. That is one call without an await, so no marker can come in between. Only a producer whose last
transaction is still ending has to wait; it asks again.

Replicas (`replicas`). While all replicas of a partition have everything, there is one log for all of them, and
leadership, ISR and epochs are facts of the `Partition`. A handler asks whether its own node leads. While replicas may
differ the partition has a `ReplicaSet`: see `broker/replication`.

Memory. When more than a quarter of `odradek.memory.bytes` (at least 16 MiB) waits for the file writer, Produce waits
before it looks at its request (`BackPressure`). One request proceeds after another, so memory never exceeds the
limit, that quarter and one request. Everything else is served meanwhile. Appends that do not wait (coordinators,
copies for followers, compaction, `produce_all`) may exceed it for as long as the disk is behind.

`maintenance` is one task with three kinds of work: retention, compaction and idle producers. Each goes over the
partitions that hold data. A jump of the clock runs each kind once. Compaction works in slices of a few milliseconds,
between which requests are served. `durability` syncs logs on disk. With `odradek.flush=always` a request that appended
waits for the next group sync, which runs in a thread for all that wait. `interval` obeys `flush.messages` and
`flush.ms` as Kafka does; `never` syncs when the broker stops.
"""
