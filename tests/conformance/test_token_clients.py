"""See ``tests/scenarios/token_clients.py``."""

from tests.conformance.test_wire_security import secured
from tests.scenarios.token_clients import *  # noqa: F403

__all__ = ["secured"]
