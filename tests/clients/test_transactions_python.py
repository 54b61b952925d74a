"""See ``tests/scenarios/transactions_python.py``."""

from tests.scenarios.transactions_python import *  # noqa: F403
