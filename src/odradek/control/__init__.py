"""The control API over HTTP: what Python can do to a broker, for every other language. Needs ``odradek[control]``."""
