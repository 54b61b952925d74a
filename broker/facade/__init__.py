"""The Python API of a broker.

What enters are calls of a user's thread or trio run; what leaves are immutable snapshots of the broker's state, and
records. `broker` has everything that only looks, `verbs` what changes something or waits. `threaded`, `open_broker` and
`process` run a broker in a thread, in the caller's trio run, or in a child process; `remote` reaches one over HTTP.

The facade owns no durable state: it reads and changes the cluster in the broker's thread (`thread_bridge`).
"""
