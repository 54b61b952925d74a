"""The verbs of a broker, as `odradek.open_broker` has them. `facade/blocking` is generated from these modules."""
