"""See ``tests/scenarios/other_clients.py``."""

from tests.scenarios.other_clients import *  # noqa: F403
