"""What happens to the nodes of a running cluster: they stop, die, freeze, start, join, leave and change their release.

`node_life` takes nodes down and up and moves leaders, `added_nodes` and `upgrades` change the cluster's members,
`node_values` checks the configs that a node starts with. `replication`, `links`, `disks` and `coordinators` make what
runs on the nodes slow, late or fail. Functions take the `Cluster` and run in the broker's thread. They own no state.
"""
