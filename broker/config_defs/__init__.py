"""Kafka's configuration as facts: names, types, defaults, limits, and what odradek makes of each."""
