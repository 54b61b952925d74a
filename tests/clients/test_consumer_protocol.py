"""See ``tests/scenarios/consumer_protocol.py``."""

from tests.scenarios.consumer_protocol import *  # noqa: F403
