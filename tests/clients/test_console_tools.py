"""See ``tests/scenarios/console_tools.py``."""

from tests.scenarios.console_tools import *  # noqa: F403
