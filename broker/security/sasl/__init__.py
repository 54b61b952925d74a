"""SASL: mechanisms and the log-in in front of a connection's requests."""
