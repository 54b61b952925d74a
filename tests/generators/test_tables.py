"""Kafka's tables out of its jars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from generators import tables
from tests.conformance.real_kafka import Unavailable

FIELD = {"name": "GroupId", "type": "string", "versions": "0+"}


@pytest.mark.jdk
def test_the_tables_are_those_of_the_jars() -> None:
    try:
        files = tables.files()
    except Unavailable as missing:
        pytest.skip(str(missing))
    assert {path.name: path.read_text(encoding="utf-8") for path in files} == {
        path.name: text for path, text in files.items()
    }


def test_comments_end_with_the_line_and_do_not_begin_in_text(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "a.jar", "w") as jar:
        jar.writestr("common/message/A.json", '// one\n{"name": "A", // two\n "about": "http://b \\" // c"}')
        jar.writestr("common/message/A.class", b"")
        jar.writestr("META-INF/other.json", "{}")
    assert list(tables.tables_in(tmp_path / "a.jar")) == [{"name": "A", "about": 'http://b " // c'}]


def test_descriptions_are_left_out_at_every_depth() -> None:
    inner = {
        "name": "Topics",
        "type": "[]Topic",
        "versions": "0+",
        "about": "All.",
        "fields": [{**FIELD, "about": "x"}],
    }
    left = {"name": "Topics", "type": "[]Topic", "versions": "0+", "fields": [FIELD]}
    assert tables.kept({"name": "A", "fields": [inner], "commonStructs": [inner]}) == {
        "name": "A",
        "fields": [left],
        "commonStructs": [left],
    }


def test_a_new_kind_of_property_is_refused() -> None:
    with pytest.raises(ValueError, match="GroupId has properties that are not known here: compressed"):
        tables.kept({"name": "A", "fields": [{**FIELD, "compressed": True}]})


def message(key: int, name: str, kind: str, **properties: Any) -> dict[str, Any]:
    return {"apiKey": key, "type": kind, "name": f"{name}{kind.title()}", "fields": [], **properties}


def test_apis_of_controllers_alone_are_only_named() -> None:
    apis = [
        {"key": key, "name": name, "cluster_action": False, "forwardable": True} for key, name in ((1, "A"), (2, "B"))
    ]
    of_a = message(
        1, "A", "request", validVersions="2-5", listeners=["controller", "broker"], latestVersionUnstable=True
    )
    of_b = message(2, "B", "request", validVersions="none")
    others = [message(1, "A", "response"), message(2, "B", "response"), {"name": "H", "type": "header"}]
    found = tables.of_clients([of_a, of_b, *others, {"name": "D", "type": "data"}], apis)
    assert found["controller_only_apis"] == [{"key": 2, "name": "B"}]
    assert (found["headers"], found["client_data"]) == (
        [{"name": "H", "type": "header"}],
        [{"name": "D", "type": "data"}],
    )
    [a] = found["apis"]
    assert (a["lowest"], a["highest"], a["highest_stable"]) == (2, 5, 4)
    assert a["listeners"] == ["broker", "controller"]
    assert a["request"] == {"apiKey": 1, "type": "request", "name": "ARequest", "fields": [], "validVersions": "2-5"}


def field(name: str, *fields: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "type": "int8", "versions": "0+", **({"fields": list(fields)} if fields else {})}


def test_versions_that_only_an_older_release_has_are_added() -> None:
    new = message(1, "A", "request", validVersions="2-5", fields=[field("b"), field("d", field("y"))])
    old = message(1, "A", "request", validVersions="0-3", fields=[field("a"), field("b"), field("c"), field("d")])
    old["fields"][3] = field("d", field("x"), field("y"))
    answers = [message(1, "A", "response", validVersions=versions) for versions in ("2-5", "0-3")]
    api = {"lowest": 2, "highest": 5, "request": new, "response": answers[0]}
    tables.add_removed_versions([api], {"ARequest": old, "AResponse": answers[1]})
    assert (api["lowest"], new["validVersions"], answers[0]["validVersions"]) == (2, "0-5", "0-5")
    assert [each["name"] for each in new["fields"]] == ["a", "b", "c", "d"]
    assert [each["name"] for each in new["fields"][3]["fields"]] == ["x", "y"]


def test_versions_that_were_a_preview_are_not_added() -> None:
    new = message(1, "A", "request", validVersions="1", fields=[])
    old = message(1, "A", "request", validVersions="0", latestVersionUnstable=True, fields=[field("a")])
    api = {"lowest": 1, "highest": 1, "request": new, "response": message(1, "A", "response", validVersions="1")}
    tables.add_removed_versions([api], {"ARequest": old})
    assert new["validVersions"] == "1"
    assert new["fields"] == []


def test_each_table_has_a_line() -> None:
    found = {"source": "Kafka", "apis": [{"key": 1}, {"key": 2}], "headers": [{"name": "H"}]}
    text = tables.as_lines(found)
    assert json.loads(text) == found
    assert text.splitlines()[2:5] == [' "apis": [', '  {"key":1},', '  {"key":2}']
