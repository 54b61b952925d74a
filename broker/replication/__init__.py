"""Replicas that differ: copying, committing, and telling the controller who is in sync.

Appends, elections and the holds of tests enter; ISR changes go to the controller, and committed records to the
readers. `Replicator` changes the `ReplicaSet` of a partition after each append, after each election, and twice in
`replica.lag.time.max.ms`. Nothing here runs while all replicas have everything.

A replica is a prefix of a log, `Replica(node, log, end)`, so a follower that is behind costs no memory, and neither
does a dead one. A partition has a `ReplicaSet` while a node is down or a test holds something back. The rules are
Kafka's. The high watermark is the smallest end among the replicas in sync, and stands still below
`min.insync.replicas`. A follower that is behind for `replica.lag.time.max.ms` leaves the ISR, and one that has
everything committed returns. A leader that lacks records of the shared log gets a log of its own (`storage/forking`).
Followers are cut to the leader's history by their leader epochs. A model test runs appends, lags, cuts, deaths and
elections in any order: committed records stay, and followers are prefixes of their leader.

Reassignments. A replica that a reassignment adds begins empty. The `Replicator` hears of it before the partitions do
(`before_publish`). When the leader tells the controller that the new replicas are in sync (`ChangeIsr`), the same
record completes the reassignment (`controller/elections`). So a reassignment is complete at once where nothing is held
back, with the records that Kafka writes. `throttles` say how far a copy may go and when to look again.

`LeaderChecks` returns leadership to preferred replicas, and holds unclean elections that have become permitted, at
Kafka's intervals. A node that thaws leads what it led before for one turn of the loop (`thawed_leaders`): each
partition has a log of its own meanwhile, which is then cut like that of any follower.
"""
