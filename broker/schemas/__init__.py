"""What the bytes of records mean, where somebody has said so: Avro and Protobuf, to look at. Brokers never ask."""
