"""What is written to a broker in another process, as requests."""

from __future__ import annotations

from typing import Any, cast

import pytest

from odradek.broker.facade.records.record import ProducerRecord
from odradek.broker.facade.remote.handles import RemoteSeeding
from odradek.broker.facade.remote.transport import Transport


class Asked:
    """Keeps what would be asked for."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def call(self, member: str, /, **arguments: Any) -> list[int]:
        assert member == "produce_all"
        self.calls.append(arguments)
        return [len(arguments["records"])]


def write(records: list[Any], transactional_id: str | None = None, **serializers: Any) -> list[dict[str, Any]]:
    asked = Asked()
    given = {"key_serializer": None, "value_serializer": None} | serializers
    work = RemoteSeeding(cast("Transport", asked), "t", **given).write(records, transactional_id, "commit")
    for _ in work:
        pass
    return asked.calls


def test_records_as_json() -> None:
    full = ProducerRecord(1, "k", {"h": None}, 2, 5)
    (call,) = write(["a", None, full], value_serializer=lambda value: repr(value).encode())
    assert call == {
        "topic": "t",
        "records": [
            {"value": b"'a'", "headers": []},
            {"value": b"None", "headers": []},
            {"value": b"1", "key": b"k", "headers": [["h", None]], "partition": 2, "timestamp": 5},
        ],
        "transactional_id": None,
        "transaction": "commit",
    }


def test_many_records_are_several_requests_and_a_transaction_is_one() -> None:
    assert [len(call["records"]) for call in write(["x"] * 12_000)] == [5000, 5000, 2000]
    assert [len(call["records"]) for call in write(["x"] * 12_000, "tx")] == [12_000]
    assert [len(call["records"]) for call in write([])] == [0]


def test_what_is_no_bytes_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(TypeError, match="expected bytes, text or None as value, not 7"):
        write(["a", 7])
