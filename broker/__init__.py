"""The broker: clock, connections, request handlers, metadata, partitions, coordinators, faults.

Bytes of clients and calls of `facade` enter; answers and snapshots of the state leave. Each room (subpackage) says in
its docstring what enters, what leaves and who owns which state. ARCHITECTURE.md lists the rooms from top to bottom: a
room imports only rooms below it. `cluster` makes all parts and connects them; `clock` is the only reader of the
machine's clock.
"""
