"""Requests to the share coordinator, word for word as a real Kafka answers (see the scenario module)."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages import describe_share_group_offsets as describe
from odradek.protocol.generated.messages import initialize_share_group_state as initialize
from odradek.protocol.generated.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from odradek.protocol.generated.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from odradek.protocol.generated.messages.read_share_group_state import (
    PartitionData,
    ReadShareGroupStateRequest,
    ReadStateData,
)
from tests.fakes.recorded import check_as_recorded
from tests.fakes.vectors import cases
from tests.fakes.wire_client import WireClient

NAMES = ["share_states", "wrong_share_states", "merged_batches", "snapshots", "share_keys"]


@pytest.mark.parametrize(("name", "release"), cases("share_conversations", NAMES))
def test_share_state_is_read_and_written_as_recorded(name: str, release: str) -> None:
    check_as_recorded(name, release)


def test_a_partition_that_is_named_twice_has_one_result_in_the_order_of_a_hash_map() -> None:
    ids = (bytes(15) + b"\1", bytes(15) + b"\2")
    asked = [[PartitionData(index, 0) for index in indexes] for indexes in ((2, 17, 2), (5,), (0,))]
    topics = [ReadStateData(topic_id, rows) for topic_id, rows in zip((ids[1], ids[0], ids[1]), asked, strict=True)]
    with KafkaBroker() as broker, WireClient.at(broker.bootstrap_servers) as client:
        response = client.request(ReadShareGroupStateRequest("g", topics))
    found = [(topic.topic_id, [row.partition for row in topic.partitions]) for topic in response.results]
    assert found == [(ids[0], [5]), (ids[1], [0, 17, 2])]


def test_a_topic_without_partitions_is_left_out_when_states_are_initialized() -> None:
    named = [initialize.PartitionData(0, 1, 0)]
    topics = [initialize.InitializeStateData(bytes(16)), initialize.InitializeStateData(bytes(15) + b"\1", named)]
    with KafkaBroker() as broker, WireClient.at(broker.bootstrap_servers) as client:
        response = client.request(initialize.InitializeShareGroupStateRequest("g", topics))
    assert [topic.topic_id for topic in response.results] == [bytes(15) + b"\1"]


@pytest.mark.long
def test_read_share_group_state_at_another_node_is_refused() -> None:
    request = ReadShareGroupStateRequest("g", [ReadStateData(bytes(15) + b"\1", [PartitionData(0, 0)])])
    texts = {}
    with KafkaBroker(nodes=2) as broker:
        for address in broker.bootstrap_servers.split(","):
            with WireClient.at(address) as client:
                [row] = client.request(request).results[0].partitions
                texts[row.error_code] = row.error_message
    assert texts.pop(ErrorCode.NOT_COORDINATOR) == (
        "Unable to read share group state: This is not the correct coordinator."
    )
    assert len(texts) == 1


@pytest.mark.long
@pytest.mark.parametrize("request_class", [AlterShareGroupOffsetsRequest, DeleteShareGroupOffsetsRequest])
def test_share_offset_apis_at_another_node_are_refused(request_class: type[Any]) -> None:
    texts = {}
    with KafkaBroker(nodes=2) as broker:
        for address in broker.bootstrap_servers.split(","):
            with WireClient.at(address) as client:
                answer = client.request(request_class("g", []))
                texts[answer.error_code] = answer.error_message
    assert texts[ErrorCode.NOT_COORDINATOR] == "This is not the correct coordinator."


@pytest.mark.long
def test_describe_share_group_offsets_at_another_node_is_refused() -> None:
    texts = {}
    request = describe.DescribeShareGroupOffsetsRequest([describe.DescribeShareGroupOffsetsRequestGroup("g", None)])
    with KafkaBroker(nodes=2) as broker:
        for address in broker.bootstrap_servers.split(","):
            with WireClient.at(address) as client:
                [group] = client.request(request).groups
                texts[group.error_code] = group.error_message
    assert texts[ErrorCode.NOT_COORDINATOR] == "This is not the correct coordinator."
