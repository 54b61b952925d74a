"""The guide's blocks are tests: they are run as one file by a pytest of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

GUIDE = Path(__file__).parents[2] / "docs" / "testing.md"


def test_the_guide_runs(pytester: pytest.Pytester) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    pytester.makepyfile("\n\n".join(blocks))
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "--strict-markers")
    result.assert_outcomes(passed=sum(block.count("def test_") for block in blocks))
