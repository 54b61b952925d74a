"""Kafka's quotas as arithmetic without I/O.

`rate` has samples, windows and token buckets. `quotas` says which quota applies to a client, and owns what was used of
it. A throttle time leaves.

A broker without quotas runs no code of them: with the first quota `QuotaSwitch` (`broker/requests`) gives the
dispatcher a `Meter`. Routes are made anew with functions that measure their handlers. The meter counts a request when
it is answered and writes `throttle_time_ms` into the answer. The dispatcher returns a `Throttled`: the connection
sends the answer and is muted until that time has passed on the broker's clock. A Fetch over its quota takes back what
it did to its session. The controller counts mutations while it decides on a command, so it refuses single topics over
the quota.
"""
