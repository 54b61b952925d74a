"""For all tests: assertions of the shared scenarios explain themselves like those of test modules.

And no property fails because the machine was busy: hypothesis has neither a deadline nor a limit for making examples.
With `--hypothesis-profile=repeated`, as in `make test`, its examples are the same each time.
"""

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.scenarios")
settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeated", settings.get_profile("patient"), derandomize=True)
settings.load_profile("patient")
