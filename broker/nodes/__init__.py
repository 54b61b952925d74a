"""What happens to the nodes of a running cluster: they stop, die, freeze, start, join, leave and change their release.

`node_life` takes nodes down and up and moves leaders, `added_nodes` changes the cluster's members and their releases,
`node_values` checks the configs that a node starts with. `links`, `disks` and `coordinators` make what runs on the
nodes slow, late or fail. Functions take the `Cluster` and run in the broker's thread. They own no state.
"""
