"""See ``tests/scenarios/replica_log_dirs.py``."""

from tests.scenarios.replica_log_dirs import *  # noqa: F403
