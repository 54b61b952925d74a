"""See ``tests/scenarios/throttling.py``."""

from tests.scenarios.throttling import *  # noqa: F403
