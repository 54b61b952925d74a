"""See ``tests/scenarios/oauthbearer.py``."""

from tests.conformance.test_wire_security import secured
from tests.scenarios.oauthbearer import *  # noqa: F403

__all__ = ["secured"]
