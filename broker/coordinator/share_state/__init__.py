"""The share coordinator: the stored states of share partitions.

Commands come from the leaders of share partitions, in the same process through `ShareStateClient`, and from the group
coordinator. `StoredStates` is what the records of `__share_group_state` say. A record is a snapshot of a share
partition or an update of the last one. Every 500 updates a snapshot is written, and the log before the oldest snapshot
in use is deleted.
"""
