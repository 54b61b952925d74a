"""``odradek coverage`` and the pages that are made from it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek.__main__ import main
from odradek.broker.api.served import SERVED
from odradek.commands.coverage import config_markdown, config_rows, markdown, uses

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(("page", "text"), [("coverage.md", markdown), ("configuration.md", config_markdown)])
def test_coverage_pages_are_current(page: str, text: Callable[[], str]) -> None:
    assert (DOCS / page).read_text(encoding="utf-8") == text() + "\n", "run: make pages"


def test_coverage_explains_every_use_of_a_config() -> None:
    assert {row.use for row in config_rows()} == set(uses())


def test_coverage_command_lists_configs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "--configs", "--json"]) == 0
    rows = {(row["kind"], row["name"]): row for row in json.loads(capsys.readouterr().out)}
    assert rows["broker", "num.partitions"]["use"] == "honoured"
    assert rows["broker", "client.quota.callback.class"]["use"] == "refused"
    assert rows["broker", "group.initial.rebalance.delay.ms"]["default"] == "0"
    assert rows["topic", "retention.ms"]["default"] == "604800000"
    assert main(["coverage", "--configs"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(rows)


def test_coverage_lists_every_api(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 79
    served = {row["key"]: row["served"] for row in rows if row["served"]}
    assert served == {key: [each.min_version, each.max_version] for key, each in SERVED.all().items()}
    assert main(["coverage"]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) == 79
    assert re.search(r"^ 18  ApiVersions +0-5  of 0-5$", text, re.MULTILINE)
