"""See ``tests/scenarios/administration.py``."""

from tests.scenarios.administration import *  # noqa: F403
