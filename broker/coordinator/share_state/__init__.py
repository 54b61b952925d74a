"""The share coordinator: the stored states of share partitions.

Commands come from the leaders of share partitions and from the group coordinator. `StoredStates` is what the records
of `__share_group_state` say.
"""
