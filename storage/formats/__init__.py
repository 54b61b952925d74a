"""The files of a partition's folder as bytes and values: names, batches, indexes. Read-only, without state or rules."""
