"""Values as JSON."""

from __future__ import annotations

import json

import pytest

import odradek.types
from odradek.broker.facade.groups.info import StreamsGroupInfo
from odradek.broker.facade.remote.encoding import encoded
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
