"""Chaos: faults that a seed draws and applies to a running cluster.

A seed enters and a schedule of faults leaves. `schedule` has its values and its text, and draws it: a function of the
seed, the shape of the cluster and the user's wishes, so a schedule is the same everywhere.
`course` takes a schedule through one cluster, driven by the broker's clock or by steps. It has the verbs that a
schedule names, owns what is to be undone, and notes and leaves out each fault that makes no sense at its time.
`chaos` has the user's `Chaos`. Its `Trials` know which schedules ran, and `shrunk` finds the few faults that a failure
needs, by delta debugging; the pytest plugin uses both.

`tests/chaos` runs clients against it in one trio run: real sockets, a clock that jumps when all wait, tasks shuffled
by the seed. A run takes half a second and is the same, record by record.
"""
