"""odradek in place of a Kafka image: the environment variables of those images, and the files that start them.

Environment variables enter, a config and the arguments of `odradek serve` leave. Nothing here owns state.
"""
