"""The verbs of a broker, as `odradek.open_broker` has them. `make generate` writes those that block from them."""
