"""What the cluster is: topics, placement, leadership, features, nodes."""
