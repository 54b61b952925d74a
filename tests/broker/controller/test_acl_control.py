"""Which entries can be made and deleted. Codes and texts were heard from a real Kafka 4.3.1 with StandardAuthorizer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller import acl_control
from odradek.broker.controller.acl_control import MAX_RECORDS, create_acls, delete_acls
from odradek.broker.controller.state import MetadataState
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.acl import Acl, AclFilter, Operation, Pattern, Permission, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.message import MetadataRecord

READ = Acl(Resource.TOPIC, "t", Pattern.LITERAL, "User:x", "*", Operation.READ, Permission.ALLOW)


class Image:
    """The image that the records of decisions make."""

    def __init__(self) -> None:
        self._writer = ImageWriter()
        self.state = MetadataState(self._writer.image, BrokerConfig({"odradek.kafka.version": "4.3"}), 1)
        self._offset = 0

    def create(self, *acls: Acl) -> list[KafkaError | None]:
        records, results = create_acls(self.state, acls)
        self._replay(records)
        return results

    def delete(self, *filters: AclFilter) -> list[list[Acl] | KafkaError]:
        records, results = delete_acls(self.state, filters)
        self._replay(records)
        return results

    @property
    def acls(self) -> set[Acl]:
        image = self._writer.image
        assert set(image.acl_ids.values()) == set(image.acls)
        return {Acl.of_record(record) for record in image.acls.values()}

    def _replay(self, records: Sequence[MetadataRecord]) -> None:
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
def test_what_kafka_does_not_look_at(changed: dict[str, int | str]) -> None:
    assert Image().create(READ._replace(**changed)) == [None]  # type: ignore[arg-type]


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


@pytest.mark.long
def test_acl_changes_of_one_request_are_limited() -> None:
    image = Image()
    many = [READ._replace(name=f"t{number}") for number in range(MAX_RECORDS + 1)]
    with pytest.raises(KafkaError) as caught:
        image.create(*many)
    assert caught.value.code is ErrorCode.POLICY_VIOLATION
    assert caught.value.message == "Unable to perform excessively large batch operation."
    image.create(*many[1:])
    assert set(image.create(*many)) == {None}
    assert len(image.acls) == MAX_RECORDS + 1
    with pytest.raises(KafkaError) as caught:
        image.delete(AclFilter(name="t0"), AclFilter())
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert caught.value.message == "Cannot remove more than 10000 acls in a single delete operation."
    assert len(image.acls) == MAX_RECORDS + 1
    image.delete(AclFilter(name="t0"))
    assert len(image.delete(AclFilter())[0]) == MAX_RECORDS  # type: ignore[arg-type]
    assert image.acls == set()
