"""Fixtures of the scenario modules; a folder's conftest adds ``target``, the broker they run against."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from tests.conformance.real_kafka import Unavailable, classpath
from tests.scenarios.target import Target, unique, wait_until


class MakeTopic(Protocol):
    """Creates a topic with a name of its own and answers the name."""

    def __call__(self, label: str = "t", partitions: int = 1, **configs: str) -> str: ...


def of_clients(items: list[pytest.Item], folder: str, *marks: pytest.MarkDecorator) -> None:
    """Mark the tests of a folder. Client libraries leave broken sockets to the garbage collector: no test's fault."""
    leaving = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if str(item.path).startswith(folder + os.sep):
            for mark in (*marks, leaving):
                item.add_marker(mark)


def skip_without_kafka() -> None:
    """Skip where a real Kafka cannot be had, and say what is missing."""
    if "ODRADEK_REAL_KAFKA" not in os.environ:
        try:
            classpath()
        except Unavailable as missing:
            pytest.skip(str(missing))


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """What clients left is collected before the tests of another module are judged by it."""
    yield
    gc.collect()


@pytest.fixture
def broker(target: Target) -> Iterator[Target]:
    """The broker of this session; a traceback in its log fails the test that caused it."""
    target.complaints()
    yield target
    complaint = target.complaints()
    assert not complaint, f"the broker met a bug:\n{complaint[-8000:]}"


@pytest.fixture
def bootstrap(broker: Target) -> str:
    return broker.bootstrap


@pytest.fixture
def make_topic(broker: Target) -> MakeTopic:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 2})

    def make(label: str = "t", partitions: int = 1, **configs: str) -> str:
        name = unique(label)
        create_topic(admin, name, partitions, {key.replace("_", "."): value for key, value in configs.items()})
        return name

    return make


def create_topic(admin: AdminClient, name: str, partitions: int, configs: Mapping[str, str] | None = None) -> None:
    """Create a topic and wait until each of its partitions has a leader that answers."""
    new = NewTopic(name, partitions, replication_factor=1, config=dict(configs or {}))
    admin.create_topics([new], operation_timeout=30)[name].result(60)
    wait_until(f"leaders of {name}", lambda: _leaders(admin, name) == partitions)
    wait_until(f"logs of {name}", lambda: _answer(admin, name, partitions))


def _leaders(admin: AdminClient, name: str) -> int:
    try:
        topic: Any = admin.list_topics(name, timeout=30).topics[name]
    except KafkaException:
        return -1
    return sum(partition.leader >= 0 for partition in topic.partitions.values())


def _answer(admin: AdminClient, name: str, partitions: int) -> bool:
    """Whether all leaders do: in a real Kafka, metadata knows a leader a moment before that has its log."""
    asked = {TopicPartition(name, index): OffsetSpec.earliest() for index in range(partitions)}
    try:
        return all(future.result(60).offset >= 0 for future in admin.list_offsets(asked).values())
    except KafkaException:
        return False
