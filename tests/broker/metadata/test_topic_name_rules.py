"""Names of topics: what Kafka takes, what it refuses and in which words."""

from __future__ import annotations

import pytest

from odradek.broker.metadata.topic_name_rules import check_topic_name, collision_key
from odradek.protocol.errors import ErrorCode, KafkaError


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("x" * 250, f"the length of '{'x' * 250}' is longer than the max allowed length 249"),
        ("a b", "'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
        ("a\n", "'a\n' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
        ("größe", "'größe' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
    ],
)
def test_a_topic_name_that_kafka_refuses_is_refused(name: str, problem: str) -> None:
    with pytest.raises(KafkaError) as refused:
        check_topic_name(name)
    assert refused.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert refused.value.message == f"Topic name is invalid: {problem}"


@pytest.mark.parametrize("name", ["a", "x" * 249, "...", "A-z_0.9", "__consumer_offsets"])
def test_a_topic_name_that_kafka_takes_is_taken(name: str) -> None:
    check_topic_name(name)


@pytest.mark.parametrize(
    ("name", "key"), [("a.b", "a_b"), ("a_b", "a_b"), ("a.b_c", "a_b_c"), ("plain", None), ("a-b", None)]
)
def test_names_that_collide_share_a_key(name: str, key: str | None) -> None:
    assert collision_key(name) == key
