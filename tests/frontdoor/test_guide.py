"""The blocks of README and of the guide are programs: each page is run as one file by a pytest of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]


PAGES = [
    "README.md",
    "docs/testing.md",
    "docs/failures.md",
    "docs/listeners.md",
    "docs/security.md",
    "docs/control.md",
    "docs/tutorial.md",
    "docs/moving.md",
    "docs/recipes.md",
    "docs/registry.md",
    "docs/versions.md",
]


@pytest.mark.long(*PAGES[1:])
@pytest.mark.parametrize("page", PAGES)
def test_the_page_runs(page: str, pytester: pytest.Pytester) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    tests = sum(block.count("def test_") for block in blocks)
    assert tests
    pytester.makepyfile("\n\n".join(blocks))
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--strict-markers")
    cases = re.findall(r"kafka_versions\((.*?)\)\n", "\n".join(blocks))
    result.assert_outcomes(passed=tests + sum(versions.count(",") for versions in cases))
