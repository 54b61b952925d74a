"""The group coordinator: classic, consumer, share and streams groups, and committed offsets.

Commands enter `GroupMachine`, which owns the groups of one partition of `__consumer_offsets`. Its records and replies
leave. `groups` has the one group of each id, `offsets` the committed offsets of all kinds. If two commits name one
offset, the later one in the log wins, also when it is part of a transaction that ends first; so a compacted log says
the same.

Each kind is a package behind the protocols of `groups`: a `GroupKind` decides on commands and replays its records, a
`Group` says what it permits. A kind is imported with its first command or record. A group is of one kind at a time. An
empty group of another kind is taken over where Kafka does so, and keeps its offsets. `epoch_group` is
what consumer, share and streams groups have in common: members in epochs.

Configs and topics reach a kind as `GroupConfigs` and `TopicSource`. `decide` may read them and `replay` may not: the
records store what was decided. The service submits `MetadataChanged` when a topic is made, grows or is deleted.
`broker.group("g")` waits without polling: the effect `GroupChanged` makes the service call the watchers.
"""
