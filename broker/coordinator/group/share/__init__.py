"""Share groups (KIP-932) at the coordinator: members, the simple assignor, and which share partitions have a state.

Requests enter `kind`. `ShareGroup` is what the log says, and only `replay` changes it. The share coordinator
initialises and deletes the states of share partitions for it (`effect_handlers`).

No member owns a partition: the partition's leader hands out single records and keeps account of them
(`broker/partitions/share`).
"""
