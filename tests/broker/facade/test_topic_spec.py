"""Topics as users ask for them."""

from __future__ import annotations

from typing import Any

import pytest

import odradek
from odradek.broker.facade.topic_spec import TopicSpec, config_texts, topic_specs


def test_names_of_topics_are_enough() -> None:
    with odradek.KafkaBroker(topics=["orders", "payments"]) as broker:
        assert {name: len(info.partitions) for name, info in broker.topics.items()} == {
            "orders": 1,
            "payments": 1,
        }


@pytest.mark.parametrize(
    ("topics", "error", "message"),
    [
        ("orders", TypeError, "topics='orders': expected names in a list"),
        (["a", "a"], ValueError, "a topic is named twice"),
        ({"orders": "6"}, TypeError, "topic 'orders': expected a number of partitions"),
        ({"orders": {"partition": 6}}, ValueError, "topic 'orders': a topic has config, partitions"),
    ],
)
def test_topics_that_make_no_sense(topics: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        odradek.KafkaBroker(topics=topics)


def test_every_way_to_ask_for_a_topic() -> None:
    spec = TopicSpec(3, 2, {"retention.ms": "5"})
    asked = {"partitions": 3, "replication_factor": 2, "config": {"retention.ms": 5}}
    assert topic_specs({"a": spec, "b": asked, "c": 6}) == {"a": spec, "b": spec, "c": TopicSpec(6)}


def test_config_values_become_the_text_of_kafkas_files() -> None:
    values = {"a": True, "b": ["compact", "delete"], "c": 1.5, "d": "x"}
    assert config_texts(values) == {"a": "true", "b": "compact,delete", "c": "1.5", "d": "x"}
