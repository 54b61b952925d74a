"""See ``tests/scenarios/share_tools.py``."""

from tests.scenarios.share_tools import *  # noqa: F403
