"""Commits that many clients send at once: one batch of the log, and the records are there when the answers come."""

from __future__ import annotations

import pytest
import trio

from odradek import open_broker
from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.record_batch import iter_batches
from tests.broker.fast.test_poller import hold_for, send_now
from tests.fakes.wire_client import TrioWireClient, request_frame

CLIENTS = 20
VERSION = 8


def commit(number: int) -> OffsetCommitRequest:
    """Of the partition of that number, an offset that nobody else commits."""
    return OffsetCommitRequest(
        group_id="g",
        topics=[OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition(number, 100 + number)])],
    )


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_commits_of_one_turn_are_one_batch_which_is_there_when_the_first_of_them_is_answered(codec: Codec) -> None:
    async def main() -> None:
        config = {"offsets.topic.compression.codec": int(codec)}
        async with open_broker(topics={"t": CLIENTS}, config=config) as broker:
            server = broker.cluster.server
            if server._poller is None:
                pytest.skip("it serves each connection in a turn of its own")
            hold_for(server, 1 << 62)
            broker.clock.freeze()
            host, _, port = broker.bootstrap_servers.rpartition(":")
            streams = [await trio.open_tcp_stream(host, int(port)) for _ in range(CLIENTS)]
            clients = [TrioWireClient(stream) for stream in streams]
            for client in clients:
                await client.request(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
            shard = broker.cluster.groups.shard_for("g")
            log = broker.cluster.topics.by_name("__consumer_offsets").partitions[shard.partition].log
            before = log.log_end_offset
            for number, stream in enumerate(streams):
                send_now(stream, request_frame(commit(number), VERSION, 2, "wire"))
            for number, client in enumerate(clients):
                answer = await client.receive(commit(number), VERSION, 2)
                assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
                assert log.log_end_offset == before + CLIENTS
            (batch,) = iter_batches(joined(log.read(before, max_bytes=1 << 20, up_to_offset=before + CLIENTS).parts))
            assert (batch.record_count, batch.codec) == (CLIENTS, codec)
            info = broker.group("g")
            assert {index: offset.offset for (_, index), offset in info.offsets.items()} == {
                number: 100 + number for number in range(CLIENTS)
            }
            for client in clients:
                await client.aclose()

    trio.run(main)
