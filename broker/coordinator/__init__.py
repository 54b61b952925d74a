"""Coordinators: a pure machine and one generic actor for each partition of an internal topic."""
