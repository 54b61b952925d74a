"""Values as JSON, and back."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

import odradek.types
from odradek.broker.facade.broker import Broker
from odradek.broker.facade.console import Overview
from odradek.broker.facade.generated.blocking.nodes import NodeVerbs
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.info import OffsetInfo, StreamsGroupInfo
from odradek.broker.facade.remote.json_values import RemoteError, decoded, encoded, hints_of
from odradek.broker.facade.transactions import TransactionInfo
from odradek.broker.requests.bugs import Bug


def test_bytes_are_text_where_they_can_be() -> None:
    assert encoded([b"caf\xc3\xa9", b"\xff", None, memoryview(b"x")]) == ["caf\u00e9", {"base64": "/w=="}, None, "x"]


def test_partitions_are_named_as_kafka_names_them() -> None:
    assert encoded({("orders", 0): {1: 2}, "x": ("orders", 1)}) == {"orders-0": {"1": 2}, "x": "orders-1"}


def test_a_dataclass_shows_its_properties_and_which_one_it_is() -> None:
    offset = odradek.types.OffsetInfo(3, -1, "", 5, 2)
    group = odradek.GroupInfo("g", "Stable", 1, "consumer", "range", "m", (), {("t", 0): offset}, 1)
    shown = encoded(group)
    assert (shown["lag"], shown["assignments"], shown["offsets"]["t-0"]["lag"]) == (2, {}, 2)
    assert "class" not in shown
    assert encoded(StreamsGroupInfo("g", "Empty", 1, "", None, None, (), {}, 1))["class"] == "StreamsGroupInfo"


def test_a_fault_shows_what_was_said_and_its_hits() -> None:
    fault = odradek.Fault(1, answer="NOT_LEADER_OR_FOLLOWER", topic="t", partition=0)
    fault.note_hit()
    shown = encoded(fault)
    assert shown == shown | {
        "api": "Fetch",
        "answer": "NOT_LEADER_OR_FOLLOWER",
        "delay_ms": 0,
        "hits": 1,
        "partition": 0,
        "topic": "t",
    }


def test_bugs_and_denials_have_json() -> None:
    bug = Bug("Fetch", ValueError("x"), "Traceback", b"\xff", ("line",))
    denial = odradek.types.Denial(1, "User:a", "h", "READ", "TOPIC", "t", "Fetch", "PLAINTEXT")
    assert encoded(bug)["error"] == "ValueError('x')"
    assert encoded(denial)["operation"] == "READ"
    json.dumps(encoded([bug, denial]))


def test_what_has_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no JSON"):
        encoded(object())


OFFSET = odradek.types.OffsetInfo(3, -1, "", 5, None)
MEMBER = odradek.MemberInfo("m", None, "c", "/h", ("t",), {"t": (0, 1)}, 1, 1)
GROUP = odradek.GroupInfo("g", "Stable", 1, "", None, None, (MEMBER,), {("t-1", 0): OFFSET}, 1)
VALUES: list[tuple[Any, Any]] = [
    (dict[str, odradek.GroupInfo], {"g": GROUP}),
    (odradek.GroupInfo, StreamsGroupInfo("g", "Empty", 1, "", None, None, (), {}, 1, unassigned=(("t", 1),))),
    (odradek.StoredRecord, odradek.StoredRecord("t", 0, 1, 2, b"\xff", None, (("h", b"v"), ("n", None)))),
    (odradek.RecordMetadata, odradek.RecordMetadata("t", 0, 1, 2)),
    (odradek.types.Denial, odradek.types.Denial(1, "User:a", "h", "READ", "TOPIC", "t", "Fetch", "PLAINTEXT")),
    (Mapping[str, Mapping[int, int]], {"a": {1: 2}}),
    (odradek.ErrorCode, odradek.ErrorCode.NOT_COORDINATOR),
    (float, 3),
    (Any, b"\xff"),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "value"), VALUES)
def test_what_was_encoded_comes_back(hint: Any, value: Any) -> None:
    assert decoded(hint, encoded(value), "x", strict=False) == value


def test_faults_and_bugs_come_back() -> None:
    fault = odradek.Fault("Produce", answer="NOT_LEADER_OR_FOLLOWER", times=2, topic="t", partition=0)
    assert repr(decoded(odradek.Fault, encoded(fault), "x", strict=False)) == repr(fault)
    bug = decoded(Bug, encoded(Bug("Fetch", ValueError("x"), "Traceback", b"\xff", ("line",))), "x")
    assert (bug.where, bug.frame, bug.last_requests) == ("Fetch", b"\xff", ("line",))
    assert isinstance(bug.error, RemoteError)


@pytest.mark.parametrize(
    ("hint", "data", "message"),
    [
        (int, "2", "n='2': expected a whole number"),
        (int, True, "n=True: expected a whole number"),
        (int, 1.5, "n=1.5: expected a whole number"),
        (bool, 1, "n=1: expected true or false"),
        (int | None, "x", "n='x': expected a whole number"),
        (str | Path | None, 1, "n=1: expected text"),
        (Mapping[str, bytes | str | None] | Iterable[tuple[str, bytes]], 7, "n=7: expected an object or a list"),
        (Literal["a", "b"], "c", "n='c': expected a or b"),
        (list[int], [1, "x"], r"n\[1\]='x': expected a whole number"),
        (dict[str, int], [], r"n=\[\]: expected an object"),
        (dict[str, int], {"a": "x"}, r"n\.a='x': expected a whole number"),
        (dict[int, int], {"a": 1}, "n: expected numbers as names, not 'a'"),
        (dict[tuple[str, int], int], {"orders": 1}, "as in \"orders-0\", not 'orders'"),
        (tuple[int, int], [1], "n: expected 2 items, not 1"),
        (bytes, {"base64": "?"}, "n: '\\?' is not base64"),
        (bytes, 1, 'n=1: expected text or {"base64"'),
        (odradek.ErrorCode, "NO", "n: no ErrorCode is called 'NO'"),
        (odradek.RecordMetadata, {"topc": 1}, "n: there is no 'topc' .did you mean 'topic'"),
        (odradek.RecordMetadata, {"topic": "t"}, "n: missing 3 required"),
        (odradek.RecordMetadata, 1, "n=1: expected an object"),
        (odradek.Fault, {"api": "Produc"}, "n: no API is called 'Produc' .did you mean 'Produce'"),
        (object, {}, "n: object has no JSON|object has no JSON"),
    ],
)
def test_mistakes_are_told_in_words(hint: Any, data: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        decoded(hint, data, "n")


def test_arguments_and_results_are_types() -> None:
    assert hints_of(NodeVerbs.kill_node) == {"node_id": int, "return": Undo}


def test_names_for_type_checkers_alone_are_found() -> None:
    transactions = inspect.getattr_static(Broker, "transactions")
    assert hints_of(transactions.fget) == {"return": dict[str, TransactionInfo]}


def test_fields_of_base_classes_are_known_too() -> None:
    assert hints_of(StreamsGroupInfo)["offsets"] == Mapping[tuple[str, int], OffsetInfo]


def test_a_module_that_was_dropped_is_imported_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, Overview.__module__)  # as pytester does with what a run inside of a run imported
    assert hints_of.__wrapped__(Overview)["frozen"] is bool
