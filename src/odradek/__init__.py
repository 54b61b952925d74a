"""odradek: Apache Kafka in your test process."""

from odradek._version import __version__

__all__ = ["__version__"]
