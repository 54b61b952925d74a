"""Kafka's quotas as arithmetic without I/O: rates, the quotas that apply to a client, and its throttle time."""
