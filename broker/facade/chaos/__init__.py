"""Faults by a seed: what is drawn, how it is applied to a running cluster, and which few of it matter."""
