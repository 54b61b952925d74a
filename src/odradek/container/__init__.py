"""odradek in the place of a Kafka image: the environment that those images take, and the files that start them."""
