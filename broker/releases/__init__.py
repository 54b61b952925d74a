"""The Kafka releases that a cluster can behave as: `odradek.kafka.version`, 4.4 by default.

A release is data (`releases.json`, recorded from real brokers: API versions, features, configs) and a few named
behaviours (`release.py`). The rest of the broker asks for a behaviour by its name and never compares versions.
`releases.json` is generated: `python -m tests.broker.releases.generate`.
"""
