"""Kafka's tables of messages and error codes, taken from its jars by `make tables`."""
