"""The actor of a coordinator partition. Groups, transactions, share state and the controller run on it.

A command enters `Shard`; its reply leaves at once or through a `ReplySlot`. The machine decides what the command comes
to (`machine` has the contract), the journal appends the records, and the machine replays them. `Executor` runs these
steps one at a time.

The shard owns its machine, journal, mailbox and timers, and nothing else writes to them. `commits` takes over the steps
while the replicas of the partition differ. `loading` replays the log into a new machine.
"""
