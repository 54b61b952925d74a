"""Kafka's configs as tables: one line a config."""
