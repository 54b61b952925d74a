"""Share partitions (KIP-932): what the leader of a partition knows of the records that share groups work on."""
