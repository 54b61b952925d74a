"""Faster ways for parts of the plain path, bought with knowledge of CPython, mypyc, trio's insides or Linux.

`fast_lane.FastLane` hands them to the cluster through the seam `odradek.broker.lane`; nothing below imports this
package. Readable sockets, frames, responses and the records of coordinators enter. The same bytes leave in the same
order as from the plain path, in fewer steps.

State and its owners: a poller (one for each server) owns the epoll, the connections that wait for a request or are
parked, and the answers that its turn holds back. The lane (one for each cluster) owns `HeldAppends`, which the poller
tells of its turns; a `HoldingJournal` owns its growing batch, and `Partition.held` makes sure that nobody sees a log
without it. The socket batch is the process's and lent to one poller at a time. Each route owns its writer of answers,
and `Services` the kept answers.

Each module says in its first lines what it gains: CPU of the broker for each unit of a row of `tests/bench`, compiled,
as the median of pairs. A trick that gains less than 5 % in its row is removed.
"""
