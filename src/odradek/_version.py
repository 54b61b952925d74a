"""The version of the distribution; the only place it is written."""

__version__ = "1.0.0"
