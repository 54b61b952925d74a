"""The blocks of README and of the guide are programs: each page is run as one file by a pytest of its own."""

from __future__ import annotations

import re
import subprocess
import sys
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


ALONE = re.split(r"^## ", (ROOT / "docs/recipes.md").read_text(), flags=re.MULTILINE)[1:]
"""The sections that are pasted alone."""
SHIPPED = {"_pytest", "odradek", *sys.stdlib_module_names}
INSTALLED_AS = {"confluent_kafka": "confluent-kafka"}


@pytest.mark.parametrize(
    "text",
    [*((ROOT / page).read_text() for page in [*PAGES, "docs/state.md", "docs/quotas.md"]), *ALONE],
    ids=[*PAGES, "docs/state.md", "docs/quotas.md", *(section.partition("\n")[0] for section in ALONE)],
)
def test_what_is_pasted_has_all_its_names_and_says_what_to_install(text: str) -> None:
    code = "\n\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "--output-format", "concise", "-"]
    done = subprocess.run(ruff, input=code, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    imported = set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)) - SHIPPED
    installs = " ".join(re.findall(r"pip install[^`\n]*(?:`|$)", text, re.MULTILINE))
    missing = {INSTALLED_AS.get(name, name) for name in imported if INSTALLED_AS.get(name, name) not in installs}
    assert not missing - {"trio"}, f"nothing says to install {missing}"  # odradek brings trio


@pytest.mark.long(*PAGES[1:])
@pytest.mark.parametrize("page", PAGES)
def test_guide_page_runs_as_it_is_written(page: str, pytester: pytest.Pytester) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    tests = sum(block.count("def test_") for block in blocks)
    assert tests
    pytester.makepyfile("\n\n".join(blocks))
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--strict-markers")
    cases = re.findall(r"kafka_versions\((.*?)\)\n", "\n".join(blocks))
    result.assert_outcomes(passed=tests + sum(versions.count(",") for versions in cases))
