"""What stands in the place of a handler on the hot path in a cluster with an authorizer."""
