"""Consumer groups of the classic protocol, and their committed offsets, on `__consumer_offsets`."""
