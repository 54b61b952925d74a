"""The hash of a group's topics, beyond the recorded stories of the assignors (consumer/test_assignors.py).

Each hash of a story was computed by Kafka 4.3.1 over topics of a story's step.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from odradek.broker.coordinator.group.metadata_hash import group_hash, topic_hash
from odradek.protocol.uuids import uuid_from_text

ROWS = json.loads(gzip.decompress((Path(__file__).parents[3] / "vectors" / "assignments.json.gz").read_bytes()))
TOPIC_ID = bytes(range(16))


def test_groups_are_hashed_as_kafka_hashes_them() -> None:
    compared = 0
    for row in ROWS:
        step, answer = row["story"]["steps"][0], row["answer"][0]
        subscribed = set(step["join"]["topics"])
        topics = [topic for topic in step.get("topics", ()) if topic["name"] in subscribed]
        hashes = {t["name"]: topic_hash(t["name"], uuid_from_text(t["id"]), t["racks"]) for t in topics}
        assert group_hash(hashes) == answer["hash"]
        compared += bool(hashes)
    assert compared > len(ROWS) // 2


def test_no_topics() -> None:
    assert group_hash({}) == 0


def test_the_order_of_racks_and_topics_counts_for_nothing() -> None:
    one, other = (topic_hash("t", TOPIC_ID, [racks, []]) for racks in (["a", "b"], ["b", "a"]))
    assert one == other
    assert group_hash({"a": 1, "b": 2}) == group_hash({"b": 2, "a": 1})


def test_everything_else_of_a_topic_counts() -> None:
    hashes = {
        topic_hash("t", TOPIC_ID, [[], []]),
        topic_hash("u", TOPIC_ID, [[], []]),
        topic_hash("t", TOPIC_ID[::-1], [[], []]),
        topic_hash("t", TOPIC_ID, [[], [], []]),
        topic_hash("t", TOPIC_ID, [["a"], []]),
        topic_hash("t", TOPIC_ID, [[], ["a"]]),
    }
    assert len(hashes) == 6
