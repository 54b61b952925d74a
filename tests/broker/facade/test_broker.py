"""What a user of Python does with a broker."""

from __future__ import annotations

import pytest

import odradek
from odradek.broker.metadata.image import ResourceType
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.facade.test_threaded import produce_three


def test_create_topic_is_ready_at_once() -> None:
    with odradek.KafkaBroker() as broker:
        info = broker.create_topic("p-data", 2, config={"max.message.bytes": 5000})
        assert len(info.partitions) == 2
        produce_three(broker)
        assert broker.topics["p-data"].partitions[0].high_watermark == 3
        with pytest.raises(odradek.KafkaError, match="exists"):
            broker.create_topic("p-data")
        with pytest.raises(odradek.KafkaError):
            broker.create_topic("bad name")


def test_nodes_have_ports_of_their_own() -> None:
    with odradek.KafkaBroker(nodes=3, topics={"orders": 6}) as broker:
        assert len(set(broker.bootstrap_servers.split(","))) == 3
        assert {each.leader for each in broker.topics["orders"].partitions} == {1, 2, 3}


def test_a_refused_topic_is_named_and_a_misspelt_config_gets_a_suggestion() -> None:
    with odradek.KafkaBroker() as broker:
        with pytest.raises(odradek.KafkaError, match="topic 'orders': "):
            broker.create_topic("orders", 0)
        with pytest.raises(odradek.KafkaError, match=r"did you mean 'retention\.ms'"):
            broker.create_topic("orders", config={"retention.mss": 1})


def test_faults_are_checked_where_they_are_set() -> None:
    with odradek.KafkaBroker() as broker:
        fault = odradek.Fault("Produce", answer="NOT_LEADER_OR_FOLLOWER")
        broker.set_faults([fault])
        with pytest.raises(TypeError, match="Fault objects"):
            broker.set_faults("Produce")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="no node 9"):
            broker.set_faults(odradek.Fault(node=9))


def test_nothing_is_there_at_first() -> None:
    with odradek.KafkaBroker() as broker:
        assert broker.groups == {}
        assert broker.transactions == {}
        assert broker.group("nobody").state == "Dead"


def test_a_name_that_a_mapping_of_the_broker_does_not_have_is_told_with_the_nearest() -> None:
    with odradek.KafkaBroker(topics=["orders"]) as broker:
        broker.group("shipping").set_offsets({("orders", 0): 0})
        for what, known, asked in (
            ("topics", "orders", "order"),
            ("all_topics", "orders", "order"),
            ("groups", "shipping", "shiping"),
        ):
            found = getattr(broker, what)
            assert found[known]
            with pytest.raises(
                KeyError, match=rf"broker\.{what} has no '{asked}' \(did you mean '{known}'\?\); it has"
            ):
                _ = found[asked]
        with pytest.raises(KeyError, match=r"broker\.nodes has no 2; it has 1"):
            _ = broker.nodes[2]
        with pytest.raises(KeyError, match=r"broker\.transactions has no 'pay'; it is empty"):
            _ = broker.transactions["pay"]


METRICS = ResourceType.CLIENT_METRICS


def test_a_subscription_to_client_metrics_is_replaced_and_ended() -> None:
    with odradek.KafkaBroker() as broker:
        broker.subscribe_client_metrics("s", {"metrics": ["org.a", "org.b"], "interval.ms": 500})
        image = broker.cluster.image
        assert image.configs_of(METRICS, "s") == {"metrics": "org.a,org.b", "interval.ms": "500"}
        broker.subscribe_client_metrics("s", {"metrics": "*"})
        assert image.configs_of(METRICS, "s") == {"metrics": "*"}
        broker.subscribe_client_metrics("s", {})
        assert image.names_with_configs(METRICS) == []


def test_a_subscription_to_client_metrics_that_kafka_refuses_is_refused() -> None:
    with odradek.KafkaBroker() as broker:
        with pytest.raises(KafkaError, match="Illegal client matching pattern") as refused:
            broker.subscribe_client_metrics("s", {"match": "host=a"})
        assert refused.value.code == ErrorCode.INVALID_CONFIG


def test_a_look_at_pushes_makes_no_telemetry_service() -> None:
    with odradek.KafkaBroker() as broker:
        assert broker.telemetry_pushes == []
        assert broker.cluster.services.telemetry.made is None
