"""See ``tests/scenarios/straight_line.py``."""

from tests.scenarios.straight_line import *  # noqa: F403
