"""Sockets: listeners, connections, TLS and the gate for SASL log-ins. README.md has the states of a connection.

Bytes from sockets enter; frames go to the dispatcher, and its answers leave. `Server` owns the listening sockets and
the connections, a `Connection` its socket, receive buffer and unsent answer. `ConnectionLimits` owns the counts of
connections.
"""
