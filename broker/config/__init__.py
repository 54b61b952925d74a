"""Kafka's configs: their definitions, the values in force, and the rules for listeners.

`definitions` has the facts of every config. `BrokerConfig` owns a node's values, in Kafka's layers. Changes arrive as
records of the metadata log. `entries` is what DescribeConfigs answers.
"""
