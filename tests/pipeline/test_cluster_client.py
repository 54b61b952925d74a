"""The requests of jobs and data source, to brokers that do not have everything at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import odradek
from odradek.broker.faults.fault import FaultContext
from odradek.pipeline.cluster_client import ClusterClient
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record


def names_a_topic(_: FaultContext, request: Any) -> bool:
    return bool(request.topics)


def test_a_created_topic_is_waited_for(kafka_broker: odradek.KafkaBroker) -> None:
    code = odradek.ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    unknown = odradek.Fault("Metadata", answer=code, times=2, when=names_a_topic)
    kafka_broker.set_faults(unknown)
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        client.create_topics({"orders": 2})
        assert unknown.hits == 2
        assert client.offsets({("orders", 1): -1}) == {("orders", 1): 0}


def test_an_error_that_waiting_does_not_mend_is_told(kafka_broker: odradek.KafkaBroker) -> None:
    code = odradek.ErrorCode.TOPIC_AUTHORIZATION_FAILED
    refusal = odradek.Fault("Metadata", answer=code, when=names_a_topic)
    kafka_broker.set_faults(refusal)
    with (
        ClusterClient(kafka_broker.bootstrap_servers) as client,
        pytest.raises(odradek.KafkaError, match="topic orders") as caught,
    ):
        client.create_topics({"orders": 2})
    assert caught.value.code == code
    assert refusal.hits == 1


@pytest.mark.kafka(nodes=2, topics={"orders": 4})
def test_sizes_of_partitions_are_asked_for_at_their_leaders(kafka_broker: odradek.KafkaBroker) -> None:
    kafka_broker.produce("orders", "x" * 1000, partition=1)
    keys = [("orders", partition) for partition in range(4)]
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        sizes = client.sizes(keys)
        assert sizes.keys() == set(keys)
        assert 1000 < sizes["orders", 1] < 1200
        assert {size for key, size in sizes.items() if key[1] != 1} == {0}
        code = odradek.ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        kafka_broker.set_faults(odradek.Fault("DescribeLogDirs", answer=code))
        with pytest.raises(odradek.KafkaError, match="CLUSTER_AUTHORIZATION_FAILED: DescribeLogDirs"):
            client.sizes(keys)


@pytest.mark.parametrize("api", ["Produce", "Fetch"])
@pytest.mark.kafka(topics={"orders": 1})
def test_a_leader_that_moves_is_looked_for(kafka_broker: odradek.KafkaBroker, api: str) -> None:
    moved = odradek.Fault(api, answer=odradek.ErrorCode.NOT_LEADER_OR_FOLLOWER, times=2)
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        kafka_broker.set_faults(moved)
        client.produce("orders", 0, build_batch([Record(0, 1, b"k", b"v", ())]))
        (batch,) = iter_batches(client.fetch("orders", 0, 0).records)
        assert moved.hits == 2
        assert [record.value for record in batch.records()] == [b"v"]
        kafka_broker.set_faults(odradek.Fault(api, answer=odradek.ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        with pytest.raises(odradek.KafkaError, match=f"TOPIC_AUTHORIZATION_FAILED: {api} of orders-0"):
            client.fetch("orders", 0, 0) if api == "Fetch" else client.produce("orders", 0, build_batch([Record(0)]))


@pytest.mark.kafka(topics={"orders": 1})
def test_a_leader_that_is_not_found_in_time_is_told(kafka_broker: odradek.KafkaBroker) -> None:
    kafka_broker.set_faults(odradek.Fault("Fetch", answer=odradek.ErrorCode.NOT_LEADER_OR_FOLLOWER))
    with (
        ClusterClient(kafka_broker.bootstrap_servers, timeout_s=0.2) as client,
        pytest.raises(odradek.KafkaError, match="NOT_LEADER_OR_FOLLOWER: Fetch of orders-0"),
    ):
        client.fetch("orders", 0, 0)


@pytest.mark.kafka(nodes=2, topics={"orders": 1}, config={"default.replication.factor": 2})
def test_a_read_goes_on_at_the_next_leader_when_a_broker_dies(kafka_broker: odradek.KafkaBroker) -> None:
    address = kafka_broker.bootstrap_servers.split(",")
    moved = odradek.Fault("ListOffsets", answer=odradek.ErrorCode.NOT_LEADER_OR_FOLLOWER, times=2)
    with ClusterClient(address[1]) as client:
        client.produce("orders", 0, build_batch([Record(0, 1, b"k", b"v", ())]))
        kafka_broker.topic("orders").move_leader(0, 1)
        assert len(client.fetch("orders", 0, 0).records) > 0
        kafka_broker.kill_node(1)
        (batch,) = iter_batches(client.fetch("orders", 0, 0).records)
        assert [record.value for record in batch.records()] == [b"v"]
        kafka_broker.set_faults(moved)
        assert client.offsets({("orders", 0): -1}) == {("orders", 0): 1}
        assert moved.hits == 2
        kafka_broker.kill_node(2)
        with pytest.raises(ConnectionError, match=rf"no broker answers \({address[1]}: [^:]+\)"):
            client.fetch("orders", 0, 0)


@pytest.mark.kafka(nodes=2, topics={"orders": 1}, config={"default.replication.factor": 2})
def test_a_patient_client_waits_for_a_cluster_that_is_away(kafka_broker: odradek.KafkaBroker) -> None:
    with ClusterClient(kafka_broker.bootstrap_servers, patient=True) as client:
        client.produce("orders", 0, build_batch([Record(0, 1, b"k", b"v", ())]))
        for node in (1, 2):
            kafka_broker.kill_node(node)
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(client.offsets, {("orders", 0): -1})
            for node in (2, 1):
                kafka_broker.start_node(node)
            assert answer.result(60) == {("orders", 0): 1}


@pytest.mark.kafka(nodes=2, topics={"orders": 1})
def test_a_client_knows_the_brokers_that_the_cluster_named(kafka_broker: odradek.KafkaBroker) -> None:
    with ClusterClient(kafka_broker.bootstrap_servers.split(",")[0]) as client:
        client.topics()
        kafka_broker.kill_node(1)
        assert client.topics(["orders"]) == {"orders": [0]}
