"""The group coordinator of a cluster: lazy shards, leaders that move, topics that go, a log that remembers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps

import pytest
import trio
import trio.lowlevel

from odradek.broker.cluster import Cluster
from odradek.broker.coordinator.group.classic.group import Heartbeat
from odradek.broker.coordinator.group.groups import OffsetToCommit
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.service import GroupService
from odradek.broker.runtime.shard import ShardState
from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.primitives import ZERO_UUID
from odradek.protocol.record_batch import iter_batches
from tests.fakes.group_driver import commit_offsets, join_group, sync_group
from tests.fakes.nodes import set_node_up
from tests.fakes.shard_stage import submitted
from tests.storage.logs import compact


def in_trio(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        trio.run(test)

    return run


def commit(cluster: Cluster, group_id: str, offset: int, topic: str = "t") -> list[ErrorCode]:
    offsets = [OffsetToCommit(topic, ZERO_UUID, 0, offset, -1, "")]
    codes: list[ErrorCode] = cluster.groups.ask_now(group_id, commit_offsets(group_id, offsets))
    return codes


def committed(cluster: Cluster, group_id: str, topic: str = "t") -> int:
    machine = cluster.groups.machine_for(group_id)
    assert isinstance(machine, GroupMachine)
    return machine.offsets.fetch(group_id, topic, ZERO_UUID, [0], False)[0].offset


@in_trio
async def test_group_coordinator_needs_the_offsets_topic() -> None:
    async with Cluster().run() as cluster:
        with pytest.raises(KafkaError) as caught:
            commit(cluster, "g", 1)
        assert caught.value.code is ErrorCode.NOT_COORDINATOR
        assert list(cluster.groups.shards()) == []


@in_trio
async def test_shards_start_when_they_are_needed() -> None:
    async with Cluster().run() as cluster:
        cluster.groups.topic.ensure()
        assert cluster.groups.topic.partitions is not None
        assert len(cluster.groups.topic.partitions) == 50
        assert list(cluster.groups.shards()) == []
        commit(cluster, "g", 1)
        (shard,) = cluster.groups.shards()
        assert shard.name == f"__consumer_offsets-{cluster.groups.partition_for('g')}"


@in_trio
async def test_a_moved_leader_loads_the_group_from_the_log() -> None:
    async with Cluster(nodes=3).run() as cluster:
        service: GroupService = cluster.groups
        service.topic.ensure()
        before = cluster.nodes[service.leader_for("g")]
        joined = await submitted(service.shard_for("g"), join_group("g", "", [("range", b"")])).wait()
        await submitted(service.shard_for("g"), sync_group("g", joined.member_id, 1, {joined.member_id: b"x"})).wait()
        commit(cluster, "h", 7)
        commit(cluster, "g-simple", 8)
        waiting: list[ErrorCode] = []

        async def late() -> None:
            try:
                await submitted(service.shard_for("g", before), join_group("g", "", [("range", b"")])).wait()
            except KafkaError as error:
                waiting.append(error.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(late)
            await trio.testing.wait_all_tasks_blocked()
            set_node_up(cluster, before.id, False)
        assert waiting == [ErrorCode.NOT_COORDINATOR]
        after = cluster.nodes[service.leader_for("g")]
        assert after.id != before.id
        with pytest.raises(KafkaError) as caught:
            service.ask_now("g", Heartbeat(HeartbeatRequest("g", 1, joined.member_id)), before)
        assert caught.value.code is ErrorCode.NOT_COORDINATOR
        while service.shard_for("g").state is ShardState.LOADING:
            await trio.lowlevel.checkpoint()
        assert (
            service.ask_now("g", Heartbeat(HeartbeatRequest("g", 1, joined.member_id)), after).error_code
            == ErrorCode.NONE
        )
        assert (committed(cluster, "h"), committed(cluster, "g-simple")) == (7, 8)


@in_trio
async def test_a_reload_answers_that_it_loads_and_forgets_nothing() -> None:
    async with Cluster().run() as cluster:
        cluster.groups.topic.ensure()
        for offset in range(3000):
            commit(cluster, "g", offset)
        cluster.groups.reload(cluster.groups.partition_for("g"))
        with pytest.raises(KafkaError) as caught:
            commit(cluster, "g", 1)
        assert caught.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await trio.testing.wait_all_tasks_blocked()
        assert committed(cluster, "g") == 2999


@in_trio
async def test_the_log_rebuilds_what_compaction_leaves_of_it() -> None:
    async with Cluster(config={"log.cleaner.min.cleanable.ratio": "0.01"}).run() as cluster:
        cluster.groups.topic.ensure()
        shard = cluster.groups.shard_for("g")
        assert cluster.groups.topic.partitions is not None
        log = cluster.groups.topic.partitions[shard.partition].log
        for offset in range(400):
            commit(cluster, "g", offset, topic=f"t{offset % 3}")
            if offset == 300:
                log.roll(cluster.clock.now_ms())
        live = dict(shard.machine.stored.offsets)
        size = log.size_bytes
        compact(log, cluster.clock.now_ms())
        assert log.size_bytes < size
        shard.reload()
        await trio.testing.wait_all_tasks_blocked()
        assert shard.machine.stored.offsets == live


@in_trio
async def test_a_deleted_topic_takes_its_offsets_along() -> None:
    async with Cluster().run() as cluster:
        cluster.create_topic("t", partitions=1)
        cluster.create_topic("u", partitions=1)
        cluster.groups.topic.ensure()
        for group in ("g", "h", "i"):
            commit(cluster, group, 1)
            commit(cluster, group, 2, topic="u")
        cluster.delete_topic("t")
        for group in ("g", "h", "i"):
            assert (committed(cluster, group), committed(cluster, group, "u")) == (-1, 2)


@in_trio
async def test_offsets_expire_on_the_brokers_clock() -> None:
    async with Cluster().run() as cluster:
        cluster.groups.topic.ensure()
        commit(cluster, "g", 1)
        cluster.clock.advance(days=8)
        await trio.testing.wait_all_tasks_blocked()
        assert committed(cluster, "g") == -1


@in_trio
async def test_compressed_records_are_loaded_again() -> None:
    config = {"offsets.topic.compression.codec": "1"}
    async with Cluster(config=config).run() as cluster:
        cluster.groups.topic.ensure()
        for offset in (5, 6):
            assert commit(cluster, "g", offset) == [ErrorCode.NONE]
        shard = cluster.groups.shard_for("g")
        assert cluster.groups.topic.partitions is not None
        log = cluster.groups.topic.partitions[shard.partition].log
        batches = [
            batch for part in log.read(0, max_bytes=1 << 20, up_to_offset=2).parts for batch in iter_batches(part)
        ]
        assert [batch.codec for batch in batches] == [Codec.GZIP] * len(batches) != []
        shard.reload()
        shard.finish_loading()
        assert committed(cluster, "g") == 6
