"""Groups of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

`states` is the table of what each request gets in each state. `ClassicKind` owns the groups; `joining`, `members` and
`rebalance` decide, and `classic_group` and `roster` hold a live group.
"""
