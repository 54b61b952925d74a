"""Groups of all kinds and their committed offsets, on `__consumer_offsets`."""
