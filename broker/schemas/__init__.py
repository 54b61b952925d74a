"""Schemas of keys and values, by which records are shown: Avro, Protobuf, JSON. The broker itself does not use them.

`RecordSchemas` owns the schemas that a test has set for a topic. Decoded values leave; nothing is written.
"""
