"""See ``tests/scenarios/python_transactions.py``."""

from tests.scenarios.python_transactions import *  # noqa: F403
