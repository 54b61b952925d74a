"""Replicas that a test keeps apart: copying, committing, and telling the controller who is in sync.

`Replicator` runs after each append and election, and changes the `ReplicaSet` of a partition. Nothing here runs while
all replicas have everything.
"""
