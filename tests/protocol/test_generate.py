from __future__ import annotations

import pytest

from odradek.protocol import generate
from odradek.protocol.generate import generated_files, main, outdated_files, snake_case


def test_generated_files_are_current() -> None:
    assert outdated_files() == []


def test_no_other_files_stand_among_the_generated_ones() -> None:
    for folder in ("messages", "stored", "metadata_records"):
        present = {f"{folder}/{path.name}" for path in (generate.HERE / folder).glob("*.py")} - {
            f"{folder}/__init__.py"
        }
        assert present == {name for name in generated_files() if name.startswith(folder)}


def test_check_reports_what_is_not_current(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0
    monkeypatch.setattr(generate, "generated_files", lambda: {"messages/fetch.py": "changed", "messages/new.py": ""})
    assert main(["--check"]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "not current: messages/fetch.py",
        "not current: messages/new.py",
    ]


def test_two_structs_of_one_name_are_refused() -> None:
    fields = [
        {"name": "A", "type": "[]Same", "versions": "0+", "fields": []},
        {"name": "B", "type": "[]Same", "versions": "0+", "fields": []},
    ]
    table = {"name": "M", "type": "data", "validVersions": "0", "flexibleVersions": "none", "fields": fields}
    with pytest.raises(ValueError, match="two structs are called Same"):
        generate.MessageSource(table)


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("TopicId", "topic_id"),
        ("LastKnownElr", "last_known_elr"),
        ("V3AndBelowProducerId", "v3_and_below_producer_id"),
        ("KRaftVersion", "k_raft_version"),
        ("From", "from_"),
    ],
)
def test_snake_case(name: str, snake: str) -> None:
    assert snake_case(name) == snake
