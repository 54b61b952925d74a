"""What the page asks for besides the broker's verbs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import odradek
from odradek.broker.facade.console import Console
from odradek.broker.facade.remote.json_values import encoded
from odradek.protocol.errors import ProtocolError

AVRO = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "number", "type": "int"}]})
RESOURCE = {"resourceType": 2, "resourceName": "t"}


@pytest.fixture(scope="module")
def broker() -> Iterator[odradek.KafkaBroker]:
    with odradek.KafkaBroker(topics={"t": 1}, registry=True) as started:
        yield started
        assert started.bugs == []


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

    host, _, port = broker.bootstrap_servers.rpartition(":")
    with WireClient(host, int(port)) as client:
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
