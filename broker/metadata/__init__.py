"""The cluster's metadata as values: the read-only image, what changed of it, and the replay that alone writes it."""
