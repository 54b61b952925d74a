"""See ``tests/scenarios/python_admin.py``."""

from tests.scenarios.python_admin import *  # noqa: F403
