"""Sockets: listeners, connections, TLS, the gate for SASL log-ins, bad links. README.md has the states of a connection.

Bytes from sockets enter; frames go to the dispatcher, and its answers leave. `Server` owns the listening sockets and
the connections, a `Connection` its socket, receive buffer and unsent answer. `ConnectionLimits` owns the counts of
connections.

Bad links. `Links`, made by the first bad link, owns the state of all links. It gives the connections that a link
concerns a `Wire` in place of their socket: a transport that holds back bytes in either direction, or lets answers
leave later, in one queue that keeps their order. On TLS it lies above the encryption. When the link is good again and
the queue is empty, the connection gets its socket back. So a connection on a good link pays nothing. A connection
knows the client's name from ApiVersions, or from its next request, which `Links` sees before the dispatcher does.

A listener that refuses connections is a socket that is bound and does not listen.
"""
