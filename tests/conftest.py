"""For all tests: assertions of the shared scenarios explain themselves like those of test modules."""

import pytest

pytest.register_assert_rewrite("tests.scenarios")
