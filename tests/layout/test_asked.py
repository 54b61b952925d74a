"""What is remembered of a real Kafka's answers (tests/conformance/asked.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance import asked
from tests.conformance.asked import HERE, Asked, digest

MODULE = HERE / "test_group_conversations.py"
KEY = "conformance/test_group_conversations.py"


@pytest.fixture(autouse=True)
def not_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASK_AGAIN", raising=False)


def asked_once(tmp_path: Path, **outcomes: str) -> Asked:
    """What a later run reads after one in which tests of `MODULE` ended so."""
    first = Asked({})
    for test, outcome in outcomes.items():
        first.told(KEY, test, outcome)
    first.write(store=tmp_path / "asked.json")
    return Asked.read(tmp_path / "asked.json")


def test_what_passed_stands_and_nothing_else_does(tmp_path: Path) -> None:
    later = asked_once(tmp_path, one="passed", two="failed", three="skipped")
    assert [later.stands(MODULE, test) for test in ("one", "two", "three", "four")] == [True, False, False, False]


def test_a_failure_after_the_call_counts_and_a_second_try_too(tmp_path: Path) -> None:
    first = Asked({})
    for outcome in ("passed", "failed"):  # of the call, of what follows it
        first.told(KEY, "torn_down", outcome)
    for outcome in ("rerun", "passed"):
        first.told(KEY, "racing", outcome)
    first.write(store=tmp_path / "asked.json")
    later = Asked.read(tmp_path / "asked.json")
    assert not later.stands(MODULE, "torn_down")
    assert later.stands(MODULE, "racing")


def test_all_is_asked_again_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = asked_once(tmp_path, one="passed")
    monkeypatch.setenv("ASK_AGAIN", "1")
    assert not later.stands(MODULE, "one")


def test_what_failed_later_is_forgotten_and_what_was_not_run_is_kept(tmp_path: Path) -> None:
    later = asked_once(tmp_path, one="passed", two="passed")
    later.told(KEY, "one", "failed")
    later.write(store=tmp_path / "asked.json")
    last = Asked.read(tmp_path / "asked.json")
    assert not last.stands(MODULE, "one")
    assert last.stands(MODULE, "two")


def test_a_recording_a_helper_and_kafkas_version_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(MODULE)
    files = set(asked._reached(MODULE)[0])
    assert HERE.parent / "scenarios" / "group_conversations.py" in files
    assert asked.VECTORS / "group_conversations.json.gz" in asked._vectors(MODULE)
    monkeypatch.setattr(asked, "KAFKA_VERSION", "0.0.1")
    assert digest(MODULE) != before


def test_only_what_shows_odradeks_output_to_kafka_depends_on_its_packages() -> None:
    assert asked._judged(MODULE) == set()
    assert asked._judged(HERE / "test_whole_directory.py") == {"broker", "storage", "protocol"}


def test_modules_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    first = Asked({"conformance/test_gone.py": {"digest": "0", "passed": ["one"]}})
    first.write(store=tmp_path / "asked.json")
    assert Asked.read(tmp_path / "asked.json").known == {}
