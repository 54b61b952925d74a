"""Kafka's configs: their definitions, the values in force, and the rules for listeners.

`definitions/*.txt` have the facts of every config of Kafka 4.4.0: type, default, limits, how it may change, and in the
column `use` what odradek makes of it. A test fails if a config is called honoured and nobody reads it.
docs/configuration.md is printed from the tables. The lines are in Kafka's order of definition: DescribeConfigs lists
configs in the order of a Java hash map, which `response_order` computes from it.

Text of configs enters `BrokerConfig`, typed values leave. `BrokerConfig` owns the checked values of a node in Kafka's
layers (node, cluster-wide, static of the node, static, default) and a cache of typed values, which each change empties.
`node_config` says what a node may have of its own. A topic stores only the configs that it sets itself.
`BrokerConfig.log_config` combines them with the defaults into a `LogConfig`, one object for all topics with equal
settings. Changes arrive as records of the metadata log. A `Reconfigurable` acts on the configs of a running node: it
may refuse a change before it is recorded (`check`), and applies it when the image has it (`apply`). `entries` is what
DescribeConfigs answers.
"""
