"""What happens to the nodes of a running cluster: they stop, die, freeze, start, join, leave and change their release.

`node_life` takes nodes down and up, checks the configs that they start with, and moves leaders. `added_nodes` changes
the cluster's members and their releases. `links`, `disks` and `coordinators` make what runs on the nodes slow, late or
fail. Functions take the `Cluster` and run in the broker's thread. They own no state.
"""
