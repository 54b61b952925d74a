"""Which entries can be made and deleted. Codes and texts were heard from a real Kafka 4.3.1 with StandardAuthorizer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller import acl_control
from odradek.broker.controller.acl_control import MAX_RECORDS, create_acls, delete_acls
from odradek.broker.controller.machine import MetadataState
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.acl import Acl, AclFilter, Operation, Pattern, Permission, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.message import MetadataRecord

READ = Acl(Resource.TOPIC, "t", Pattern.LITERAL, "User:x", "*", Operation.READ, Permission.ALLOW)


class Image:
    """The image that the records of decisions make."""

    def __init__(self, release: str = "4.3") -> None:
        self._writer = ImageWriter()
        self.state = MetadataState(self._writer.image, BrokerConfig({"odradek.kafka.version": release}), 1)
        self._offset = 0

    def create(self, *acls: Acl) -> list[KafkaError | None]:
        records, results = create_acls(self.state, acls)
        self.replay(records)
        return results

    def delete(self, *filters: AclFilter) -> list[list[Acl] | KafkaError]:
        records, results = delete_acls(self.state, filters)
        self.replay(records)
        return results

    @property
    def acls(self) -> set[Acl]:
        image = self._writer.image
        assert set(image.acl_ids.values()) == set(image.acls)
        return {Acl.of_record(record) for record in image.acls.values()}

    def replay(self, records: Sequence[MetadataRecord]) -> None:
        for record in records:
            self._writer.replay(record, self._offset, 1)
            self._offset += 1


def test_an_entry_is_made_once_however_often_it_is_asked_for() -> None:
    image = Image()
    assert image.create(READ, READ) == [None, None]
    assert image.create(READ) == [None]
    assert image.acls == {READ}
    records, _ = create_acls(image.state, [READ])
    assert records == []


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"resource": 9}, "Invalid resourceType UNKNOWN"),
        ({"resource": -1}, "Invalid resourceType UNKNOWN"),
        ({"name": ""}, "Invalid empty resource name"),
        ({"pattern": 7}, "Invalid patternType UNKNOWN"),
        ({"operation": 16}, "Invalid operation UNKNOWN"),
        ({"permission": 4}, "Invalid permissionType UNKNOWN"),
        (
            {"principal": "x"},
            "Could not parse principal from `x` (no colon is present separating the principal type from the principal "
            "name)",
        ),
        (
            {"resource": Resource.CLUSTER, "name": "foo"},
            "The only valid name for the CLUSTER resource is kafka-cluster",
        ),
        ({"resource": Resource.CLUSTER, "name": ""}, "The only valid name for the CLUSTER resource is kafka-cluster"),
        ({"resource": Resource.CLUSTER, "name": "*"}, "The only valid name for the CLUSTER resource is kafka-cluster"),
    ],
)
def test_an_acl_that_makes_no_sense_is_not_created(changed: dict[str, int | str], text: str) -> None:
    image = Image()
    refused, made = image.create(READ._replace(**changed), READ)  # type: ignore[arg-type]
    assert isinstance(refused, KafkaError)
    assert (refused.code, refused.message) == (ErrorCode.INVALID_REQUEST, text)
    assert made is None
    assert image.acls == {READ}


@pytest.mark.parametrize(
    "changed",
    [
        {"principal": "x:"},
        {"principal": ":"},
        {"host": ""},
        {"host": "host.name"},
        {"operation": Operation.ALL},
        {"operation": Operation.CLUSTER_ACTION},
        {"name": "bad topic/.."},
        {"resource": Resource.CLUSTER, "name": "kafka-cluster", "pattern": Pattern.PREFIXED},
    ],
)
def test_acl_fields_that_kafka_does_not_check_are_taken(changed: dict[str, int | str]) -> None:
    assert Image().create(READ._replace(**changed)) == [None]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("host", "level", "code", "text"),
    [
        ("10.0.0.0/8", 32, None, None),
        ("*", 31, None, None),
        ("", 32, ErrorCode.INVALID_REQUEST, "Host pattern cannot be null or empty"),
        (
            "10.0.0.0/33",
            32,
            ErrorCode.INVALID_REQUEST,
            "Invalid CIDR notation '10.0.0.0/33': Value [33] not in range [0,32]",
        ),
        (
            "10.0.0.0/8",
            31,
            ErrorCode.UNSUPPORTED_VERSION,
            "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher.",
        ),
    ],
)
def test_a_host_may_be_a_network_from_metadata_version_4_4_iv1_on(
    host: str, level: int, code: ErrorCode | None, text: str | None
) -> None:
    image = Image("4.4")
    image.replay([FeatureLevelRecord("metadata.version", level)])
    (refused,) = image.create(READ._replace(host=host))
    assert (refused and refused.code, refused and refused.message) == (code, text)


def test_one_request_makes_or_removes_10_000_entries_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_RECORDS == 10_000
    monkeypatch.setattr(acl_control, "MAX_RECORDS", 3)
    image = Image()
    names = [READ._replace(name=f"t{number}") for number in range(4)]
    with pytest.raises(KafkaError) as caught:
        image.create(*names)
    assert caught.value.code is ErrorCode.POLICY_VIOLATION
    image.create(*names[:3])
    assert image.create(*names) == [None] * 4, "three of them are there"
    with pytest.raises(KafkaError) as caught:
        image.delete(AclFilter())
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    image.delete(AclFilter(name="t3"))
    assert image.delete(AclFilter()) == [names[:3]]


def test_each_filter_is_told_what_it_means_though_another_means_it_too() -> None:
    image = Image()
    other = READ._replace(name="u")
    image.create(READ, other)
    both = AclFilter(name="t"), AclFilter(name="t", pattern=Pattern.MATCH)
    assert image.delete(*both) == [[READ], [READ]]
    assert image.acls == {other}
    assert image.delete(*both) == [[], []]


def test_filters_with_numbers_that_kafka_does_not_know() -> None:
    image = Image()
    image.create(READ)
    results = image.delete(
        AclFilter(resource=9), AclFilter(pattern=9), AclFilter(operation=77), AclFilter(permission=9), AclFilter()
    )
    told = [(error.code, error.message) if isinstance(error, KafkaError) else error for error in results]
    assert told == [
        (ErrorCode.INVALID_REQUEST, "Unknown patternFilter."),
        (ErrorCode.INVALID_REQUEST, "Unknown patternFilter."),
        (ErrorCode.INVALID_REQUEST, "Unknown entryFilter."),
        (ErrorCode.INVALID_REQUEST, "Unknown entryFilter."),
        [READ],
    ]


def test_filters_that_would_be_compared_with_too_many_entries_are_refused_and_those_with_a_name_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(acl_control, "MOST_LOOKS", 20)
    image = Image()
    image.create(*[READ._replace(name=f"t{number}") for number in range(10)])
    of_nobody = AclFilter(principal="User:nobody")
    assert image.delete(of_nobody, of_nobody) == [[], []]
    for slow in (of_nobody, AclFilter(name="t1", pattern=Pattern.MATCH, principal="User:nobody")):
        with pytest.raises(KafkaError, match="3 filters for 10 acls take too long") as caught:
            image.delete(*[slow] * 3)
        assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert all(image.delete(*[AclFilter(name=f"t{number}") for number in range(10)]))
