"""Replication between the nodes of the process, and what a test keeps from it."""
