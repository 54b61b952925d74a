"""See ``tests/scenarios/python_groups.py``."""

from tests.scenarios.python_groups import *  # noqa: F403
