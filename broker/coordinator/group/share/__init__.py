"""Share groups (KIP-932): members that work on the same partitions, record by record."""
