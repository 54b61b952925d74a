"""A schema registry beside the broker, with the REST API of Confluent's. Needs ``odradek[registry]``."""
