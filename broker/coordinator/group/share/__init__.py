"""Share groups (KIP-932): members, the simple assignor, and which share partitions have a state.

Heartbeats enter `heartbeat`, offsets `offsets`. `ShareGroup` is what the log says. The records themselves are handed
out by the leaders of partitions: see `broker/partitions/share`.
"""
