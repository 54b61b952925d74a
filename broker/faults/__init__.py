"""Faults that a test sets, and their effect on answers, connections and links.

A `Fault` enters through `Cluster.set_faults`. The dispatcher asks the `FaultSet` for each request, and the answer is
replaced, delayed, dropped or cut. Faults of the API own nothing but their counts.

A `WireFault` takes the same way. It turns the answer into a list of `Step`s, which a `Wire` plays.

Bad links. `Links`, made by the first bad link, owns the state of all links. It gives the connections that a link
concerns a `Wire` in place of their socket: a transport that holds back bytes in either direction, or lets answers
leave later, in one queue that keeps their order. On TLS it lies above the encryption. When the link is good again and
the queue is empty, the connection gets its socket back. So a connection on a good link pays nothing. A connection
knows the client's name from ApiVersions, or from its next request, which `Links` sees before the dispatcher does.

A listener that refuses connections is a socket that is bound and does not listen.
"""
