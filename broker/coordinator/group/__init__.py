"""The group coordinator: classic, consumer, share and streams groups, and committed offsets.

Commands enter `GroupMachine`, which passes each to the kind of its group (`kinds` has the contract) and keeps the
offsets of all kinds. Records of `__consumer_offsets` and replies leave. A kind is a package of its own and is imported
when it is first needed.
"""
