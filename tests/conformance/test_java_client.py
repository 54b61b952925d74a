"""See ``tests/scenarios/java_client.py``."""

from tests.scenarios.java_client import *  # noqa: F403
