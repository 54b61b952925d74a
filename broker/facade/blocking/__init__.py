"""The verbs of a broker, as `odradek.KafkaBroker` has them: generated from `facade/verbs`."""
