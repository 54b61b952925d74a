"""Partitions as the broker sees them: logs, waiting readers, maintenance, durability."""
