"""For all tests: assertions of the shared scenarios explain themselves like those of test modules.

And no property fails because the machine was busy: hypothesis has neither a deadline nor a limit for making examples.
With `--hypothesis-profile=repeated`, as in `make test`, its examples are the same each time.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.scenarios", "tests.broker.coordinator.group.story_group")
settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeated", settings.get_profile("patient"), derandomize=True)
settings.load_profile("patient")


def pytest_runtest_logstart(nodeid: str) -> None:
    """Write down the test that is under way, for whoever has to say where a crash was (``make heavy``)."""
    if place := os.environ.get("ODRADEK_UNDER_WAY"):
        Path(place).write_text(f"{nodeid}\n")
