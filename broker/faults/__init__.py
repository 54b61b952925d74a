"""Faults that a test sets, and their effect on answers and connections.

A `Fault` enters through `Cluster.set_faults`. The dispatcher asks the `FaultSet` for each request, and the answer is
replaced, delayed, dropped or cut. Faults of the API own nothing but their counts.

A `WireFault` takes the same way. It turns the answer into a list of `Step`s, which a `Wire` plays (`broker/net`).
"""
