"""Routing: the partition of a key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from odradek.broker.coordinator.service import CoordinatorService, InternalTopic, Surroundings, partition_for
from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome, Producer, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import signed_hash_of_text
from tests.fakes.data_plane import DataPlane
from tests.fakes.nodes import set_node_up


def test_the_smallest_hash_counts_as_zero() -> None:
    assert partition_for("polygenelubricants", 50) == 0


def test_a_negative_hash_counts_by_its_size() -> None:
    assert signed_hash_of_text("billing") < 0
    assert partition_for("billing", 7) == -signed_hash_of_text("billing") % 7


@pytest.mark.parametrize(("group", "partition"), [("g-jg-v4", 0), ("g-jg-v3", 1), ("g-jg-v6", 3), ("g-jg-v0", 4)])
def test_groups_go_where_a_real_broker_stored_them(group: str, partition: int) -> None:
    """As seen in the log directory of a Kafka 4.3.1 with five partitions."""
    assert partition_for(group, 5) == partition


def test_a_coordinator_is_made_on_first_use_and_once() -> None:
    plane = DataPlane(config={"offsets.topic.num.partitions": "3"})
    topic: InternalTopic = plane.cluster.groups.topic
    assert topic.name == "__consumer_offsets"
    assert topic.partitions is None
    partitions = topic.ensure()
    assert [partition.index for partition in partitions] == [0, 1, 2]
    assert topic.ensure() == topic.partitions == partitions


def test_a_coordinator_is_gone_with_its_topic_and_made_anew() -> None:
    plane = DataPlane(config={"offsets.topic.num.partitions": "2"})
    topic = plane.cluster.groups.topic
    first = list(topic.ensure())
    plane.cluster.delete_topic("__consumer_offsets")
    assert topic.partitions is None
    assert [partition.index for partition in topic.ensure()] == [0, 1]
    assert all(new is not old for new, old in zip(topic.ensure(), first, strict=True))


class Add:
    """Stores one more record of a key; the reply is how many there are."""

    __slots__ = ("key",)
    reply: int

    def __init__(self, key: str) -> None:
        self.key = key


class CountingMachine:
    """Counts the records of each key, and the transaction markers."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.counts: dict[bytes, int] = {}
        self.markers: list[tuple[int, int, bool]] = []

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        assert isinstance(command, Add)
        key = command.key.encode()
        return make_outcome([NewRecord(key, b"%d" % now_ms)], reply=self.counts.get(key, 0) + 1)

    def replay(self, record: LogRecord) -> None:
        self.counts[record.key] = self.counts.get(record.key, 0) + 1

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        self.markers.append((producer_id, producer_epoch, commit))

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        return None

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        return ()


class Scene:
    """A cluster of two nodes and a coordinator on its `__consumer_offsets`; its tasks are kept, not run."""

    def __init__(self) -> None:
        self.plane = DataPlane(nodes=2, config={"offsets.topic.num.partitions": "4"})
        self.cluster = self.plane.cluster
        self.tasks: list[Callable[[], Awaitable[None]]] = []
        self.bugs: list[str] = []
        topic: InternalTopic = self.cluster.groups.topic
        surroundings = Surroundings(self.cluster.clock, self.tasks.append, lambda where, error: self.bugs.append(where))
        self.service: CoordinatorService[CountingMachine] = CoordinatorService(topic, surroundings, CountingMachine)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def code_of(action: Callable[[], object]) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        action()
    return caught.value.code


def test_coordinator_service_needs_its_topic(scene: Scene) -> None:
    service = scene.service
    for action in (
        lambda: service.partition_for("k"),
        lambda: service.ask_now("k", Add("k")),
        lambda: service.shard(0),
        lambda: service.shard(0).complete_transaction(Producer(1, 0), True, 0),
    ):
        assert code_of(action) is ErrorCode.NOT_COORDINATOR
    assert (list(service.shards()), service.running()) == ([], [])
    service.start_stored()
    assert scene.tasks == []


def test_looking_for_a_coordinator_makes_the_topic_but_starts_nothing(scene: Scene) -> None:
    assert scene.service.leader_for("k") in (1, 2)
    assert scene.service.running() == []


def test_a_shard_starts_with_the_first_command_and_keeps_its_state(scene: Scene) -> None:
    service = scene.service
    service.topic.ensure()
    assert [service.ask_now("k", Add("k")) for _ in range(3)] == [1, 2, 3]
    (shard,) = service.running()
    assert shard.partition == service.partition_for("k")
    assert scene.tasks == [shard.run]
    assert service.machine_for("k").counts == {b"k": 3}
    assert service.begin("k", Add("k")) == 4


def test_coordinator_is_the_leader_of_the_partition(scene: Scene) -> None:
    service, nodes = scene.service, scene.cluster.nodes
    leader = service.leader_for("k")
    other = nodes[3 - leader]
    assert service.ask_now("k", Add("k"), nodes[leader]) == 1
    assert code_of(lambda: service.ask_now("k", Add("k"), other)) is ErrorCode.NOT_COORDINATOR
    assert [shard.partition for shard in service.shards(nodes[leader])] == [service.partition_for("k")]
    assert list(service.shards(other)) == []


def test_a_shard_whose_leader_changed_loads_from_the_log(scene: Scene) -> None:
    service = scene.service
    service.topic.ensure()
    service.ask_now("k", Add("k"))
    before = service.machine_for("k")
    set_node_up(scene.cluster, service.leader_for("k"), False)
    after = service.machine_for("k")
    assert after is not before
    assert after.counts == {b"k": 1}
    service.leader_changed(service.partition_for("k"))
    assert service.machine_for("k") is after


def test_shards_with_data_are_started_again(scene: Scene) -> None:
    service = scene.service
    service.topic.ensure()
    service.ask_now("k", Add("k"))
    service.close()
    assert service.running() == []
    service.start_stored()
    assert [shard.partition for shard in service.running()] == [service.partition_for("k")]
    assert service.machine_for("k").counts == {b"k": 1}


def test_a_reload_forgets_everything_but_the_log(scene: Scene) -> None:
    service = scene.service
    service.topic.ensure()
    service.ask_now("k", Add("k"))
    shard = service.reload(service.partition_for("k"))
    assert code_of(lambda: service.ask_now("k", Add("k"))) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    shard.finish_loading()
    assert service.ask_now("k", Add("k")) == 2


def test_markers_are_written_and_replayed(scene: Scene) -> None:
    service = scene.service
    service.topic.ensure()
    service.ask_now("k", Add("k"))
    partition = service.partition_for("k")
    service.shard(partition).complete_transaction(Producer(7, 1), True, 0)
    assert service.machine_for("k").markers == [(7, 1, True)]
    service.reload(partition).finish_loading()
    assert service.machine_for("k").markers == [(7, 1, True)]


def test_a_deleted_topic_takes_its_shards_along(scene: Scene) -> None:
    service = scene.service
    service.topic.ensure()
    service.ask_now("k", Add("k"))
    service.topic_deleted("another", 1)
    (shard,) = service.running()
    service.topic_deleted("__consumer_offsets", 4)
    assert service.running() == []
    assert code_of(lambda: shard.ask_now(Add("k"))) is ErrorCode.NOT_COORDINATOR
    assert scene.bugs == []
