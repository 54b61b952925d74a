from __future__ import annotations

import pytest

from generators.messages import MessageSource, snake_case


def test_two_structs_of_one_name_are_refused() -> None:
    fields = [
        {"name": "A", "type": "[]Same", "versions": "0+", "fields": []},
        {"name": "B", "type": "[]Same", "versions": "0+", "fields": []},
    ]
    table = {"name": "M", "type": "data", "validVersions": "0", "flexibleVersions": "none", "fields": fields}
    with pytest.raises(ValueError, match="two structs are called Same"):
        MessageSource(table)


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
