"""The actor of a coordinator partition. Groups, transactions, share state and the controller run on it.

A command enters `Shard`; its reply leaves at once or through a `ReplySlot`. A step is synchronous: decide, append,
replay, effects, reply. The machine decides (`machine` has the contract): `decide(command, now_ms)` returns records, a
reply or a park, and effects. The journal appends the records, and `replay(record)` changes the state. Nothing else
changes durable state, so a live machine and a reloaded one are equal. A live record carries its decoded value
(`NewRecord.decoded`); one from the log is decoded. Timers are keyed commands
in the shard's queue, on the broker's clock.

The shard owns its machine, journal and timers, and nothing else writes to them. Hard state (what records
express) and soft state (a rebalance under way, parked replies, deadlines) are different objects: a reload keeps the
first and makes the second anew (`journal`). Calls between coordinators go one way, from transactions to groups.

While the replicas of the partition are together, an append is committed when it returns. While a test keeps them
apart, `Commits` takes over the steps. A reply waits in an `EarlyReply` for the high watermark, and fails with
COORDINATOR_NOT_AVAILABLE when its time is over. Groups and share state change with the append, as in Kafka's
CoordinatorRuntime; readers see a second machine that has replayed the committed records. Transactions change with the
commit, and a waiting id is CONCURRENT_TRANSACTIONS. A new leader's shard forgets both and loads what its replica has.
Without a leader the shard has resigned. Markers wait for their own partitions (`UncommittedMarker`). `hold_load` keeps
a shard in LOADING.
"""
