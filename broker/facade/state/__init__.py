"""The state of a broker as a value: `snapshot` takes it, `restore` restores it, or the state of the start.

A `Snapshot` is immutable and belongs to the user; the state itself stays with the cluster. It consists of copies of
the logs that share their bytes (`PartitionLog.twin`; only the owner of an index array appends to it), a fork of the
image (dictionaries of the same values), the pickled machines of the coordinators with their timers and the tickets of
waiting requests (`Shard.copied`; a machine has `snapshot` and `restore`), and what a test has set (holds, lags, links,
clock).

A restore is one step of the broker's task. It cuts connections and closes coordinators; sets the clock (`now_ms`
jumps, waits do not); starts and stops nodes; appends the records that lead from the present image to the old one
(`metadata/snapshot`), so every publisher follows as usual; gives partitions copies of the copies; and starts the
coordinators with the machines (`Shard.start_copied`). Nothing that clients compare ever goes back: a partition whose
log changes gets a leader epoch above all earlier ones (`Cluster.rewound_epochs`), and producer ids grow. A partition
whose content is that of the snapshot (`PartitionCopy.matches`) is left alone.

On disk (`storage/partition_folders`) the copies are of closed segments: `KeptLogs` gives their files second names. A
restore lays out the folders under names that any start drops, writes a mark with the future end of the metadata log,
appends the records as one batch or one metadata transaction, and renames. That append is the moment of the change: a
start that finds the mark completes the rest or drops the folders.
`tests/broker/facade/state/test_restore.py` stops the process at every call.

A fork is a new cluster that restores a snapshot before it listens. A reset restores the image of the start, with new
topic ids. A machine with state that its `snapshot` lacks breaks this; the same test compares everything that clients
can ask for.
"""
