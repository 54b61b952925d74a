"""Groups of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup. README.md has their states and a
rebalance.

Commands enter `ClassicKind`, which owns the groups. Replies and GroupMetadata records leave.
"""
