"""What the page asks for besides the broker's verbs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import odradek
from odradek.broker.facade.console import Console, PageLooks, group_summary
from odradek.broker.facade.groups.info import GroupInfo, OffsetInfo
from odradek.broker.facade.remote.json_values import encoded
from odradek.protocol.errors import KafkaError, ProtocolError
from tests.fakes.brokers import broker_fixture

AVRO = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "number", "type": "int"}]})
RESOURCE = {"resourceType": 2, "resourceName": "t"}


broker = broker_fixture(scope="module", topics={"t": 1}, registry=True)


@pytest.fixture
def console(broker: odradek.KafkaBroker) -> Console:
    return Console(broker.cluster, broker._look)


def test_an_admin_request_is_answered_and_in_no_transcript(broker: odradek.KafkaBroker, console: Console) -> None:
    config = {"name": "retention.ms", "configOperation": 0, "value": "1000"}
    body = {"resources": [{**RESOURCE, "configs": [config]}], "validateOnly": False}
    answer = console.admin("IncrementalAlterConfigs", body)
    assert answer["responses"] == [{"errorCode": 0, "errorMessage": None, **RESOURCE}]
    asked = {"resources": [{**RESOURCE, "configurationKeys": ["retention.ms"]}]}
    described = console.admin("DescribeConfigs", {**asked, "includeSynonyms": False, "includeDocumentation": False})
    [told] = described["results"][0]["configs"]
    assert (told["value"], told["configSource"], type(told["configSource"])) == ("1000", 1, int)
    assert len(broker.requests) == 0


def test_an_admin_request_that_waits_is_answered(broker: odradek.KafkaBroker, console: Console) -> None:
    broker.group("g").set_offsets({("t", 0): 0})
    answer = console.admin("DeleteGroups", {"groupsNames": ["g"]})
    assert answer["results"] == [{"groupId": "g", "errorCode": 0, "errorMessage": None}]
    assert broker.group("g").state == "Dead"


def test_an_open_transaction_is_aborted_and_its_producer_fenced(broker: odradek.KafkaBroker, console: Console) -> None:
    broker.create_topic("paid")
    broker.produce("paid", "v", transactional_id="till", transaction="open")
    open_one = broker.transactions["till"]
    body: dict[str, Any] = {"transactionalId": "till", "transactionTimeoutMs": 60_000, "producerId": -1}
    body |= {"producerEpoch": -1, "enable2Pc": False, "keepPreparedTxn": False}
    with pytest.raises(odradek.KafkaError, match=r"^CONCURRENT_TRANSACTIONS"):  # as Kafka tells it while it aborts
        console.admin("InitProducerId", body, node=open_one.coordinator_id)
    aborted = broker.transactions["till"]
    assert (aborted.state, aborted.producer_epoch) == ("CompleteAbort", open_one.producer_epoch + 1)
    assert broker.records("paid", isolation="read_committed") == []


def test_quotas_are_set_listed_and_removed(console: Console) -> None:
    of: list[dict[str, str | None]] = [
        {"entityType": "client-id", "entityName": None},
        {"entityType": "user", "entityName": "alice"},
    ]

    def alter(entity: list[dict[str, str | None]], remove: bool) -> None:
        ops = [{"key": "producer_byte_rate", "value": 0.0 if remove else 100.0, "remove": remove}]
        console.admin("AlterClientQuotas", {"validateOnly": False, "entries": [{"entity": entity, "ops": ops}]})

    def listed() -> Any:
        return console.admin("DescribeClientQuotas", {"components": [], "strict": False})["entries"]

    alter(of, remove=False)
    assert listed() == [{"entity": of, "values": [{"key": "producer_byte_rate", "value": 100.0}]}]
    alter(of, remove=True)
    assert listed() == []
    with pytest.raises(odradek.KafkaError, match="Invalid empty client quota entity"):
        alter([], remove=False)


def test_an_admin_request_needs_no_rights() -> None:
    security = odradek.Security(users={"admin": "pw"}, super_users=["admin"])
    with odradek.KafkaBroker(security=security) as broker:
        console = Console(broker.cluster, broker._look)
        acl = {"resourceType": 2, "resourceName": "t", "resourcePatternType": 3, "principal": "User:a", "host": "*"}
        created = console.admin("CreateAcls", {"creations": [{**acl, "operation": 3, "permissionType": 3}]})
        assert [each["errorCode"] for each in created["results"]] == [0]
        filters = {"resourceTypeFilter": 1, "resourceNameFilter": None, "patternTypeFilter": 1, "principalFilter": None}
        wanted = {**filters, "hostFilter": None, "operation": 1, "permissionType": 1}
        described = console.admin("DescribeAcls", wanted)
        assert [each["resourceName"] for each in described["resources"]] == ["t"]
        assert not list(broker.denied)


def test_an_admin_request_of_another_shape_is_refused(console: Console) -> None:
    with pytest.raises(ProtocolError, match="the field groupsNames is missing"):
        console.admin("DeleteGroups", {})
    with pytest.raises(ProtocolError):
        console.admin("CreatePartitions", {"topics": [], "timeoutMs": 2**31, "validateOnly": True})
    with pytest.raises(ValueError, match="DeleteGroups of 30003 bytes: at most 16384 are answered here"):
        console.admin("DeleteGroups", {"groupsNames": ["g" * 9] * 3000})


def test_an_admin_request_to_a_node_that_is_down_is_refused(console: Console) -> None:
    with pytest.raises(odradek.KafkaError, match="no node that answers DeleteGroups is up"):
        console.admin("DeleteGroups", {"groupsNames": []}, node=9)
    topics = [{"name": "none", "count": 2, "assignments": None}]
    with pytest.raises(odradek.KafkaError, match="none UNKNOWN_TOPIC_OR_PARTITION"):
        console.admin("CreatePartitions", {"topics": topics, "timeoutMs": 1000, "validateOnly": False})


def test_the_registry_is_asked_and_its_schemas_encode(broker: odradek.KafkaBroker, console: Console) -> None:
    number = console.registry("POST", "/subjects/t-value/versions", {"schema": AVRO})["id"]
    assert console.registry("GET", "/subjects?deleted=true") == ["t-value"]
    data = encoded_as(console.encode("t", {"number": 7}, number))
    assert data == b"\0" + number.to_bytes(4) + b"\x0e"
    with pytest.raises(ValueError, match="does not fit Order"):
        console.encode("t", {"numer": 7}, number)
    with pytest.raises(ValueError, match="no schema with the id 99 is registered"):
        console.encode("t", {}, 99)
    with pytest.raises(RuntimeError, match="there is no subject 'none'"):
        console.registry("GET", "/subjects/none/versions")
    with pytest.raises(RuntimeError, match="there is no /nothing"):
        console.registry("GET", "/nothing")
    assert len(broker.requests) == 0


def encoded_as(told: dict[str, str]) -> bytes:
    import base64

    return base64.b64decode(told["base64"])


def test_messages_of_a_request_are_json(broker: odradek.KafkaBroker, console: Console) -> None:
    from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
    from tests.fakes.wire_client import WireClient

    with WireClient.at(broker.bootstrap_servers) as client:
        client.request(ApiVersionsRequest("somebody", "1"), 3)
    [recorded] = broker.requests.filter("ApiVersions")
    told: dict[str, Any] = encoded(recorded)
    found = console.messages(told)
    assert found["request"] == {"clientSoftwareName": "somebody", "clientSoftwareVersion": "1"}
    assert found["response"]["errorCode"] == 0
    assert console.messages({**told, "response": None})["response"] is None
    with pytest.raises(ValueError, match="not a line of a transcript"):
        console.messages({})
    broker.requests.clear()


def test_one_fault_is_removed_alone(broker: odradek.KafkaBroker, console: Console) -> None:
    kept = odradek.Fault("Fetch", delay_ms=1)
    broker.set_faults(odradek.Fault("Produce", drop=True), kept)
    console.remove_fault(0)
    assert broker.faults == [kept]
    with pytest.raises(ValueError, match="there is no fault 1: 1 are set"):
        console.remove_fault(1)
    console.remove_fault(0)
    assert broker.faults == []


def looks(broker: odradek.KafkaBroker) -> PageLooks:
    return PageLooks(broker)


def test_overview_counts_everything() -> None:
    with odradek.KafkaBroker(nodes=3, topics={"a": 2, "b": 1}) as broker:
        broker.produce("a", "v", transactional_id="tx", transaction="open")
        broker.produce("a", "v", transactional_id="done")
        broker.group("g").set_offsets({("a", 0): 0})
        broker.set_faults(odradek.Fault("Produce"))
        broker.kill_node(3)
        broker.clock.freeze()
        found = looks(broker).overview
        assert (found.topics, found.partitions, found.groups, found.transactions) == (2, 3, 1, 1)
        assert (found.nodes, found.nodes_up, found.faults, found.bugs, found.frozen) == (3, 2, 1, 0, True)
        assert (found.bootstrap_servers, found.registry, found.authorizer) == (broker.bootstrap_servers, False, False)
        assert found.kafka == "4.4"
        assert found.now_ms == broker.clock.now_ms()


def test_nodes_have_a_state_and_partitions() -> None:
    with odradek.KafkaBroker(nodes=3) as broker:
        broker.create_topic("t", 3, replication_factor=3)
        before = broker.nodes
        assert {each.state for each in before.values()} == {"up"}
        assert [each.controller for each in before.values()].count(True) == 1
        assert (sum(each.leads for each in before.values()), before[3].replicas, before[3].behind) == (3, 3, 0)
        assert f"{before[1].host}:{before[1].port}" in broker.bootstrap_servers
        broker.kill_node(3)
        broker.freeze_node(2)
        after = broker.nodes
        assert {number: each.state for number, each in after.items()} == {1: "up", 2: "frozen", 3: "down"}
        assert (after[3].leads, after[3].behind) == (0, 3)


def test_topics_come_in_pages_by_name() -> None:
    with odradek.KafkaBroker(nodes=2, topics={f"t{number:02}": 1 for number in range(30)}) as broker:
        broker.create_topic("orders", 2, replication_factor=2)
        broker.produce_all("orders", [odradek.ProducerRecord(each, partition=0) for each in "abc"])
        broker.topic("orders").delete_records(0, before=1)
        page = looks(broker).topic_page("t", start=28, limit=5)
        assert (page.total, [each.name for each in page.topics]) == (30, ["t28", "t29"])
        (found,) = looks(broker).topic_page("rder").topics
        assert (found.partitions, found.records, found.end, found.leaderless, found.behind) == (2, 2, 3, 0, 0)
        assert found.size_bytes == sum(each.size_bytes for each in broker.topic("orders").partitions)
        broker.kill_node(2)
        (found,) = looks(broker).topic_page("orders").topics
        assert (found.leaderless, found.behind) == (0, 2)
        assert looks(broker).topic_page("t", start=99).topics == ()
        with pytest.raises(KafkaError, match="no topic 'no'"):
            _ = broker.topic("no").info
        with pytest.raises(ValueError, match="pages are counted from 0"):
            looks(broker).topic_page(start=-1)
        for limit in (0, 10_001):
            with pytest.raises(ValueError, match="1 to 10000 rows"):
                looks(broker).topic_page(limit=limit)


def test_kafkas_own_topics_come_if_asked_for() -> None:
    with odradek.KafkaBroker(topics={"t": 1}) as broker:
        broker.group("g").set_offsets({("t", 0): 0})
        assert [each.name for each in looks(broker).topic_page().topics] == ["t"]
        names = {each.name: each.internal for each in looks(broker).topic_page(internal=True).topics}
        assert names == {"t": False, "__consumer_offsets": True}


def test_groups_come_in_pages_by_id() -> None:
    with odradek.KafkaBroker(topics={"t": 1}) as broker:
        broker.produce_all("t", ["a", "b"])
        for number in range(12):
            broker.group(f"g{number:02}").set_offsets({("t", 0): 1})
        page = looks(broker).group_page("g", start=10, limit=1)
        assert page.total == 12
        (found,) = page.groups
        assert (found.group_id, found.state, found.members, found.lag) == ("g10", "Empty", 0, 1)
        assert looks(broker).group_page("x").total == 0


def test_pages_are_sorted_by_a_field() -> None:
    with odradek.KafkaBroker(topics={"a": 1, "b": 1, "c": 1}) as broker:
        broker.produce_all("b", ["v", "v"])
        broker.produce("c", "v")
        for group, offsets in (("one", {("b", 0): 0}), ("two", {("b", 0): 1, ("c", 0): 1}), ("lost", {("a", 0): 0})):
            broker.group(group).set_offsets(offsets)
        found = looks(broker)
        assert [each.name for each in found.topic_page(sort="-records", limit=2).topics] == ["b", "c"]
        assert [each.name for each in found.topic_page(sort="records", start=1).topics] == ["c", "b"]
        assert [each.group_id for each in found.group_page(sort="-committed_lag").groups] == ["one", "two", "lost"]
        with pytest.raises(ValueError, match="sort='-size': expected name, internal, partitions"):
            found.topic_page(sort="-size")
        assert [each.group_id for each in found.group_page(topic="c").groups] == ["two"]


def test_a_groups_lag_has_a_known_part() -> None:
    offsets = {("t", 0): OffsetInfo(1, 0, "", 0, 4), ("gone", 0): OffsetInfo(1, 0, "", 0, None)}
    info = GroupInfo("g", "Empty", 1, "consumer", None, None, (), offsets, 1, uncommitted=(("t", 1),))
    found = group_summary(info)
    assert (found.lag, found.committed_lag) == (None, 4)
