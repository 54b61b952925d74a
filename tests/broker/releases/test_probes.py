"""Requests whose answers tell releases apart, sent to each release: the answers of a real broker of that release."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import odradek
from odradek.protocol.compression import Codec
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.wire_client import WireConnection
from tests.broker.releases.generate import recording
from tests.broker.releases.test_recordings import recorded_releases

DAY_MS = 86_400_000


class Prober:
    """A broker of one release, asked as the real one was."""

    def __init__(self, name: str, broker: odradek.KafkaBroker, connection: WireConnection) -> None:
        recorded = recording(name)
        self.probes: dict[str, Any] = recorded["probes"]
        self.highest = {int(key): high for key, (_, high) in recorded["api_versions"].items()}
        self.broker = broker
        self._connection = connection

    def ask(self, request: Any, version: int | None = None) -> Any:
        """The answer; in the release's highest version by default."""
        version = self.highest[request.API_KEY] if version is None else version
        return self._connection.receive(request, version, self._connection.send(request, version))

    def find(self, key_type: int, key: str) -> None:
        """Ask for a coordinator, which makes its topic."""
        assert self.ask(FindCoordinatorRequest(key, key_type), 2).error_code == 0

    def create(self, topic: str, *, validate_only: bool = False, factor: int = 1, **configs: str) -> list[Any]:
        wanted = [CreatableTopicConfig(name.replace("_", "."), value) for name, value in configs.items()]
        request = CreateTopicsRequest([CreatableTopic(topic, 1, factor, configs=wanted)], validate_only=validate_only)
        (result,) = self.ask(request, 5).topics
        return [result.error_code, result.error_message]

    def produce(self, topic: str, *, timestamp: int | None = None, **fields: Any) -> Any:
        at = self.broker.cluster.clock.now_ms() if timestamp is None else timestamp
        batch = build_batch([Record(0, at, b"k", b"v")], **fields)
        transactional_id = "t" if fields.get("transactional") else None
        data = [TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch)])]
        return self.ask(ProduceRequest(transactional_id, -1, 1000, data), 7).responses[0].partition_responses[0]

    def offset_at(self, topic: str, timestamp: int, version: int | None) -> list[int]:
        request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, [ListOffsetsPartition(0, -1, timestamp)])])
        found = self.ask(request, version).topics[0].partitions[0]
        return [found.error_code, found.offset]


@pytest.fixture(params=recorded_releases())
def prober(request: pytest.FixtureRequest) -> Iterator[Prober]:
    version, _, mode = request.param.partition("-")
    with odradek.KafkaBroker(kafka_version=version, zookeeper=bool(mode)) as broker:
        host, port = broker.bootstrap_servers.split(":")
        with WireConnection(host, int(port)) as connection:
            yield Prober(request.param, broker, connection)


def test_topics_are_created_automatically_as_in_the_release(prober: Prober) -> None:
    request = MetadataRequest([MetadataRequestTopic(name="automatic")], True)
    codes = [prober.ask(request, 4).topics[0].error_code for _ in range(2)]
    assert codes == prober.probes["metadata_auto_create_error_sequence"]


def test_create_topics_is_refused_as_the_release_does(prober: Prober) -> None:
    assert prober.create("rec-topic") == prober.probes["create_topic"]
    assert prober.create("rec-topic") == prober.probes["create_duplicate"]
    assert prober.create("rec-rf", factor=3) == prober.probes["create_rf_3"]
    (result,) = prober.ask(CreateTopicsRequest([CreatableTopic("none", 0, 1)]), 5).topics
    assert [result.error_code, result.error_message] == prober.probes["create_partitions_0"]


def test_create_topics_checks_names_as_the_release_does(prober: Prober) -> None:
    recorded = prober.probes["topic_names"]
    whole = {"x" * 10: "x" * 250}  # what the recording cut
    assert [[name, prober.create(whole.get(name, name))] for name, _ in recorded] == recorded


def test_create_topics_checks_configs_as_the_release_does(prober: Prober) -> None:
    """Each config of a new topic is taken or refused as by the release, word for word."""
    wrong = {}
    for text, expected in prober.probes["create_topics_validate_only"].items():
        name, _, value = text.partition("=")
        if name == "remote.storage.enable":
            continue  # 3.3 to 3.5 took it without knowing it
        answer = prober.create("configured", validate_only=True, **{name.replace(".", "_"): value})
        if answer != expected:
            wrong[text] = (answer, expected)
    assert wrong == {}


def test_timestamps_are_checked_as_in_the_release(prober: Prober) -> None:
    prober.create("times")
    now = prober.broker.cluster.clock.now_ms()
    for name, timestamp in (
        ("minus_2_days", now - 2 * DAY_MS),
        ("plus_30_min", now + 30 * 60_000),
        ("plus_2_days", now + 2 * DAY_MS),
        ("minus_1", -1),
    ):
        answer = prober.produce("times", timestamp=timestamp)
        assert answer.error_code == prober.probes[f"produce_timestamp_{name}"]["error"], name


def test_list_offsets_of_special_timestamps_is_answered_as_the_release_does(prober: Prober) -> None:
    """The real log held more records, so what is compared is whether an offset was found, and the first one."""
    prober.create("offsets")
    now = prober.broker.cluster.clock.now_ms()
    for later in range(3):
        prober.produce("offsets", timestamp=now + later)
    for special in range(-7, 0):
        for version, name in ((None, f"list_offsets_max_version_ts_{special}"), (5, f"list_offsets_v5_ts_{special}")):
            if name in prober.probes:
                error, offset = prober.probes[name]
                found = prober.offset_at("offsets", special, version)
                assert (found[0], min(found[1], 1)) == (error, min(offset, 1)), name


def test_find_coordinator_of_share_partitions_is_answered_as_the_release_does(prober: Prober) -> None:
    version = prober.highest[FindCoordinatorRequest.API_KEY]
    recorded = prober.probes.get("find_coordinator_max_version_share_type", "<not asked>")
    if version < 4:
        assert recorded == "<not asked>"
        return
    request = FindCoordinatorRequest(key_type=2, coordinator_keys=["g:AAAAAAAAAAAAAAAAAAAAAQ:0"])
    (found,) = prober.ask(request).coordinators
    if recorded[0] == 15:  # the real one was asked before its state topic was there; odradek makes it at once
        assert found.error_code in (0, 15)
    else:
        assert [found.error_code, found.error_message] == recorded


def test_groups_that_are_not_there(prober: Prober) -> None:
    prober.find(0, "gx")
    (old,) = prober.ask(DescribeGroupsRequest(["gx"]), 4).groups
    assert [old.error_code, old.group_id, old.group_state] == prober.probes["describe_groups_v4_unknown"]
    (new,) = prober.ask(DescribeGroupsRequest(["gx"])).groups
    told = [new.error_code, new.error_message, new.group_id, new.group_state]
    assert told == prober.probes["describe_groups_max_version_unknown"]


def test_transactions_run_as_in_the_release(prober: Prober) -> None:
    recorded = prober.probes["transactions"]
    prober.create("money")
    prober.find(1, "t")
    first = prober.ask(InitProducerIdRequest("t", 60_000), 1)
    assert [first.error_code, first.producer_epoch] == recorded["init"]
    owner = {"producer_id": first.producer_id, "producer_epoch": first.producer_epoch, "transactional": True}
    alone = prober.produce("money", base_sequence=0, **owner)
    assert alone.error_code == recorded["produce_v7_without_add_partitions"]["error"]
    ended = prober.ask(EndTxnRequest("t", first.producer_id, first.producer_epoch, True), 1)
    assert ended.error_code == recorded["end_txn_v1"]
    again = prober.ask(InitProducerIdRequest("t", 60_000), 1)
    same_id = again.producer_id == first.producer_id
    assert [again.error_code, again.producer_epoch, same_id] == recorded["init_again"]
    owner["producer_epoch"] = again.producer_epoch
    added = prober.ask(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="t",
            v3_and_below_producer_id=again.producer_id,
            v3_and_below_producer_epoch=again.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic("money", [0])],
        ),
        1,
    )
    assert added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == 0
    assert prober.produce("money", base_sequence=0, **owner).error_code == recorded["produce_v7_after"]["error"]
    old = prober.ask(EndTxnRequest("t", first.producer_id, first.producer_epoch, True), 1)
    assert old.error_code == recorded["old_epoch_end_txn"]
    ended = prober.ask(EndTxnRequest("t", again.producer_id, again.producer_epoch, True), 1)
    assert ended.error_code == recorded["end_txn_after"]


@pytest.mark.parametrize(
    ("codec", "size", "code"), [(Codec.GZIP, 500, 0), (Codec.GZIP, 5000, 87), (Codec.NONE, 5000, 0)]
)
def test_a_compressed_batch_is_measured_decompressed_from_4_4_on(codec: Codec, size: int, code: int) -> None:
    """As a real 4.4.0 answered with a limit of 1,000 bytes; batches that are not compressed are not measured."""
    topics = {"small": {"partitions": 1, "config": {"max.decompressed.message.bytes": 1000}}}
    with odradek.KafkaBroker(kafka_version="4.4", topics=topics) as broker:
        host, port = broker.bootstrap_servers.split(":")
        with WireConnection(host, int(port)) as connection:
            batch = build_batch([Record(0, broker.cluster.clock.now_ms(), None, b"v" * size)], codec=codec)
            request = ProduceRequest(
                None, -1, 1000, [TopicProduceData("small", partition_data=[PartitionProduceData(0, batch)])]
            )
            answer = connection.receive(request, 7, connection.send(request, 7))
    assert answer.responses[0].partition_responses[0].error_code == code
