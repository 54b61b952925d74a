"""The state of a broker as a value.

`snapshot` takes it, `restore` returns to it, `fork` starts another broker from it, and `reset` returns to the state of
the start. A snapshot is immutable and belongs to the user; the state itself stays with the cluster.
"""
