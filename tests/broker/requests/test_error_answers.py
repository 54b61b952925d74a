"""Every API has a place for an error, and the mapping fills it for everything that was asked."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest

from odradek.broker.requests.error_answers import SHAPES, answered_code, error_response
from odradek.protocol.apis import API_BY_KEY, ApiSpec
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
)
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    ScramCredentialDeletion as AlterScramDeletion,
)
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    ScramCredentialUpsertion as AlterScramUpsertion,
)
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from odradek.protocol.message import Message
from odradek.protocol.message_codec import codec
from tests.fakes.filled import filled

BROKER_APIS = [spec for spec in API_BY_KEY.values() if spec.on_brokers]


def error_codes(value: Any) -> list[int]:
    found: list[int] = []
    for field in value.field_names() if isinstance(value, Message) else ():
        inner = getattr(value, field)
        if field in ("error_code", "partition_error_code"):
            found.append(inner)
        elif isinstance(inner, list):
            for each in inner:
                found += error_codes(each)
    return found


@pytest.mark.long
@pytest.mark.parametrize("spec", BROKER_APIS, ids=lambda spec: spec.name)
def test_every_version_carries_the_error(spec: ApiSpec) -> None:
    if spec.name in ("AlterUserScramCredentials",):
        pytest.skip("answers per user, not per request item")
    lowest = (
        3 if spec.name == "DescribeLogDirs" else spec.min_version
    )  # v1 and v2 have an error for each directory only
    for version in range(lowest, spec.max_version + 1):
        request = filled(spec.request)
        response = error_response(request, version, ErrorCode.NOT_CONTROLLER, "no")
        coded = codec(spec.response, version)
        decoded, _ = coded.decode(coded.encode(response))
        codes = [code for code in error_codes(decoded) if code != 0]
        assert codes, f"{spec.name} v{version} lost the error"
        assert set(codes) == {ErrorCode.NOT_CONTROLLER}


def carried(value: Any, version: int) -> list[int]:
    """The error codes in the fields that a version has."""
    found: list[int] = []
    for field in type(value).declare():
        inner = getattr(value, field.name)
        if version not in field.versions:
            continue
        if field.name in ("error_code", "partition_error_code"):
            found.append(inner)
        elif isinstance(inner, list):
            found += (code for each in inner if isinstance(each, Message) for code in carried(each, version))
    return found


TOP, ROWS, BOTH = (True, False), (False, True), (True, True)
PLACES: dict[str, dict[int, tuple[bool, bool]]] = {
    "AddPartitionsToTxn": {0: ROWS, 4: TOP},
    "AlterPartitionReassignments": {0: BOTH},
    "DescribeUserScramCredentials": {0: BOTH},
    "ElectLeaders": {0: ROWS, 1: BOTH},
    "Fetch": {0: ROWS, 7: BOTH, 13: TOP},
    "FindCoordinator": {0: TOP, 4: ROWS},
    "Metadata": {0: ROWS, 13: BOTH},
    "OffsetFetch": {0: ROWS, 2: TOP, 8: ROWS},
}
"""Version from which on an API's error stands at the top, beside what was asked, or in both places. Any other API has
it at the top, if it has a place for it there."""


@pytest.mark.parametrize("spec", BROKER_APIS, ids=lambda spec: spec.name)
def test_each_version_has_the_error_where_kafka_puts_it(spec: ApiSpec) -> None:
    lowest = 3 if spec.name == "DescribeLogDirs" else spec.min_version  # v1 and v2 have one for each directory only
    asked = filled(spec.request)
    for version in range(lowest, spec.max_version + 1):
        response = error_response(asked, version, ErrorCode.NOT_CONTROLLER, "no")
        codes = carried(response, version)
        top = next((field for field in type(response).declare() if field.name == "error_code"), None)
        has_top = top is not None and version in top.versions
        wanted = {0: TOP if has_top else ROWS, **PLACES.get(spec.name, {})}
        expected = wanted[max(low for low in wanted if low <= version)]
        at_top = has_top and response.error_code == ErrorCode.NOT_CONTROLLER
        assert (at_top, sum(map(bool, codes)) > at_top) == expected, (spec.name, version)
        assert set(codes) - {0} == {ErrorCode.NOT_CONTROLLER}


def values_beside(api: str, version: int, *fields: str) -> list[Any]:
    """What fields have beside an error, in the first place where they are."""
    spec = next(spec for spec in BROKER_APIS if spec.name == api)
    found: list[Any] = [error_response(filled(spec.request), version, ErrorCode.NOT_CONTROLLER)]
    while not hasattr(found[0], fields[0]):
        found = [row for row in reduce(list.__add__, lists_of(found[0])) if isinstance(row, Message)]
    return [getattr(found[0], field) for field in fields]


def lists_of(value: Any) -> list[list[Any]]:
    return [inner for name in value.field_names() if isinstance(inner := getattr(value, name), list)]


@pytest.mark.parametrize(
    ("api", "version", "values"),
    [
        ("Produce", 9, {"base_offset": -1, "log_append_time_ms": -1, "log_start_offset": -1}),
        (
            "Fetch",
            12,
            {"high_watermark": -1, "last_stable_offset": -1, "log_start_offset": -1, "records": b""},
        ),
        ("ListOffsets", 7, {"timestamp": -1, "offset": -1, "leader_epoch": -1}),
        ("OffsetFetch", 1, {"committed_offset": -1}),
        ("OffsetForLeaderEpoch", 4, {"leader_epoch": -1, "end_offset": -1}),
        ("DeleteRecords", 2, {"low_watermark": -1}),
        ("FindCoordinator", 3, {"node_id": -1, "host": "", "port": -1}),
        ("InitProducerId", 4, {"producer_id": -1, "producer_epoch": -1}),
        ("DescribeClientQuotas", 1, {"entries": None}),
        ("ReadShareGroupStateSummary", 1, {"leader_epoch": 0}),
        ("JoinGroup", 6, {"protocol_name": "", "generation_id": -1}),
        ("JoinGroup", 7, {"protocol_name": None}),
        ("DescribeGroups", 5, {"error_message": None}),
        (
            "CreateDelegationToken",
            2,
            {
                "principal_type": "User",
                "principal_name": "ANONYMOUS",
                "token_requester_principal_type": "",
                "token_requester_principal_name": "",
                "issue_timestamp_ms": -1,
                "expiry_timestamp_ms": -1,
                "max_timestamp_ms": -1,
            },
        ),
        (
            "CreateDelegationToken",
            3,
            {"token_requester_principal_type": "User", "token_requester_principal_name": "ANONYMOUS"},
        ),
    ],
)
def test_a_refused_request_is_answered_with_kafkas_values_beside_the_error(
    api: str, version: int, values: dict[str, Any]
) -> None:
    assert values_beside(api, version, *values) == list(values.values())


@pytest.mark.parametrize(("version", "message"), [(5, None), (6, "no")])
def test_describe_groups_tells_why_from_version_6_on(version: int, message: str | None) -> None:
    refused = error_response(DescribeGroupsRequest(["g"]), version, ErrorCode.GROUP_AUTHORIZATION_FAILED, "no")
    assert [group.error_message for group in refused.groups] == [message]


def test_alter_user_scram_credentials_refuses_each_user_once_in_javas_order() -> None:
    names = ["b", "\U0001f600", "\uffff", "a", "b"]
    request = AlterUserScramCredentialsRequest(
        [AlterScramDeletion(name, 1) for name in names[:2]], [AlterScramUpsertion(name, 1) for name in names[2:]]
    )
    refused = error_response(request, 0, ErrorCode.NOT_CONTROLLER, "no")
    rows = [(row.user, row.error_code, row.error_message) for row in refused.results]
    assert rows == [(name, 41, "no") for name in ("a", "b", "\U0001f600", "\uffff")]


@pytest.mark.parametrize(
    ("api", "first"), [("AddOffsetsToTxn", 2), ("AddPartitionsToTxn", 2), ("EndTxn", 2), ("InitProducerId", 4)]
)
def test_older_clients_are_not_told_that_a_producer_is_fenced(api: str, first: int) -> None:
    fenced = ErrorCode.PRODUCER_FENCED
    assert answered_code(api, first - 1, fenced) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert answered_code(api, first, fenced) is fenced
    assert answered_code(api, first - 1, ErrorCode.NOT_COORDINATOR) is ErrorCode.NOT_COORDINATOR
    assert answered_code("Produce", 0, fenced) is fenced


def test_metadata_of_a_topic_by_id_is_refused_with_an_empty_name() -> None:
    request = MetadataRequest([MetadataRequestTopic(b"1" * 16, None), MetadataRequestTopic(bytes(16), "a")])
    refused = error_response(request, 12, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert [(topic.topic_id, topic.name) for topic in refused.topics] == [(b"1" * 16, ""), (bytes(16), "a")]


def test_shapes_name_fields_that_exist() -> None:
    by_name = {spec.name: spec for spec in API_BY_KEY.values()}
    for name, shapes in SHAPES.items():
        spec = by_name[name]
        for shape in shapes:
            request, response = filled(spec.request), filled(spec.response)
            for level in shape.levels:
                request_items = reduce(lambda items, name: getattr(items[0], name), level.asked.split("."), [request])
                response_items = getattr(response, level.answered)
                request, response = request_items[0], response_items[0]
                for field, asked in level.copied.items():
                    assert hasattr(response, field), (name, field)
                    assert not asked or hasattr(request, asked), (name, asked)


def test_produce_says_which_partitions() -> None:
    from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

    request = ProduceRequest(
        acks=-1,
        topic_data=[
            TopicProduceData(name="a", partition_data=[PartitionProduceData(index=3), PartitionProduceData(index=5)])
        ],
    )
    response = error_response(request, 9, ErrorCode.UNKNOWN_SERVER_ERROR)
    answered = [
        (topic.name, each.index, each.error_code, each.base_offset)
        for topic in response.responses
        for each in topic.partition_responses
    ]
    assert answered == [("a", 3, -1, -1), ("a", 5, -1, -1)]


def test_refused_offsets_name_their_topics_by_id() -> None:
    """As a real 4.4.0 answers TxnOffsetCommit v6 of a client without rights."""
    topic = TxnOffsetCommitRequestTopic(topic_id=bytes(range(16)), partitions=[TxnOffsetCommitRequestPartition(3)])
    refused = error_response(TxnOffsetCommitRequest(topics=[topic]), 6, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    ((row, (partition,)),) = [(each, each.partitions) for each in refused.topics]
    assert (row.topic_id, partition.partition_index, partition.error_code) == (bytes(range(16)), 3, 53)


def test_a_refused_list_of_reassignments_names_what_was_asked() -> None:
    """As a real 4.4.0 answers ListPartitionReassignments of a client without rights."""
    asked = [ListPartitionReassignmentsTopics("a", [0, 1]), ListPartitionReassignmentsTopics("b", [])]
    refused = error_response(ListPartitionReassignmentsRequest(topics=asked), 0, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    assert refused.error_code == 31
    rows = [(topic.name, [each.partition_index for each in topic.partitions]) for topic in refused.topics]
    assert rows == [("a", [0, 1]), ("b", [])]
    assert refused.topics[0].partitions[0].replicas == []
