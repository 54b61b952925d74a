"""Configuration: Kafka's definitions and the values in force."""
