"""Changes of client quotas that no conversation reaches: what is written, and names of hosts."""

from __future__ import annotations

from math import inf, nan, nextafter

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.quota_control import QuotaChange, alter_quotas, hash_of_entity
from odradek.broker.metadata.image import QuotaEntity
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import signed_hash_of_text

ALICE = (("user", "alice"),)


def test_quota_changes_write_only_what_changes() -> None:
    cluster = Cluster(config={"odradek.kafka.version": "4.3"})  # 4.4 takes no NaN
    state = cluster.controller.state
    changes = [QuotaChange(ALICE, [("request_percentage", nan), ("producer_byte_rate", 5.0)])]
    records, told = alter_quotas(state, changes)
    assert sorted(record.key for record in records) == ["producer_byte_rate", "request_percentage"]  # type: ignore[attr-defined]
    assert told == [(ALICE, None)]
    cluster.controller.ask(alter_quotas, changes)
    assert alter_quotas(state, changes) == ([], [(ALICE, None)])
    removal = [QuotaChange(ALICE, [("consumer_byte_rate", None), ("producer_byte_rate", None)])]
    assert [(each.key, each.remove) for each in alter_quotas(state, removal)[0]] == [("producer_byte_rate", True)]  # type: ignore[attr-defined]
    assert alter_quotas(state, removal, validate_only=True) == ([], [(ALICE, None)])


def test_a_host_without_an_address_is_refused() -> None:
    changes = [QuotaChange([("ip", name)], [("connection_creation_rate", 3.0)]) for name in ("here", "nowhere")]
    records, told = alter_quotas(Cluster().controller.state, changes, unknown_hosts=frozenset({"nowhere"}))
    assert [record.entity[0].entity_name for record in records] == ["here"]  # type: ignore[attr-defined]
    errors = {entity[0][1]: error for entity, error in told}
    assert errors["here"] is None
    assert isinstance(errors["nowhere"], KafkaError)
    assert errors["nowhere"].code is ErrorCode.INVALID_REQUEST
    assert errors["nowhere"].message == "nowhere is not a valid IP or resolvable host."


def refusal(entity: QuotaEntity, key: str, value: float, *more: str) -> str | None:
    """The text of Kafka's INVALID_REQUEST; None if the change is taken, with a record then."""
    ops = [(each, value) for each in (key, *more)]
    records, ((_, error),) = alter_quotas(Cluster().controller.state, [QuotaChange(entity, ops)])
    assert (error is None) == bool(records)
    assert error is None or error.code is ErrorCode.INVALID_REQUEST
    return None if error is None else error.message


ADDRESS = (("ip", "127.0.0.1"),)
LARGEST_LONG, TOO_LONG = 2.0**63, nextafter(2.0**63, inf)


@pytest.mark.parametrize(
    ("entity", "key", "value", "text"),
    [
        (ALICE, "producer_byte_rate", LARGEST_LONG, None),
        (
            ALICE,
            "producer_byte_rate",
            TOO_LONG,
            "Proposed value for producer_byte_rate is too large for a LONG.",
        ),
        (ALICE, "consumer_byte_rate", LARGEST_LONG, None),
        (
            ALICE,
            "consumer_byte_rate",
            TOO_LONG,
            "Proposed value for consumer_byte_rate is too large for a LONG.",
        ),
        (ALICE, "consumer_byte_rate", 1.0, None),
        (ALICE, "consumer_byte_rate", 5.0000001, None),
        (ALICE, "consumer_byte_rate", 5.00001, "consumer_byte_rate cannot be a fractional value."),
        (ALICE, "consumer_byte_rate", 0.0, "Quota consumer_byte_rate must be greater than 0"),
        (ALICE, "consumer_byte_rate", -1.0, "Quota consumer_byte_rate must be greater than 0"),
        (ALICE, "consumer_byte_rate", inf, "Quota consumer_byte_rate must be a finite number"),
        (ALICE, "request_percentage", 0.5, None),
        (ALICE, "controller_mutation_rate", 1e300, None),
        (ALICE, "request_percentage", 0.0, "Quota request_percentage must be greater than 0"),
        (ADDRESS, "connection_creation_rate", 2.0**31 - 1, None),
        (
            ADDRESS,
            "connection_creation_rate",
            2.0**31,
            "Proposed value for connection_creation_rate is too large for an INT.",
        ),
        (ADDRESS, "producer_byte_rate", 1.0, "Invalid configuration key producer_byte_rate"),
        (ALICE, "connection_creation_rate", 1.0, "Invalid configuration key connection_creation_rate"),
        ((), "producer_byte_rate", 1.0, "Invalid empty client quota entity"),
        ((("group", "a"),), "producer_byte_rate", 1.0, "Unhandled client quota entity type: group"),
        ((("client-id", ""),), "producer_byte_rate", 1.0, "Empty client-id not supported"),
        ((("client-id", None),), "producer_byte_rate", 1.0, None),
        (
            (*ADDRESS, *ALICE),
            "connection_creation_rate",
            1.0,
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId",
        ),
        ((*ALICE, ("client-id", "c")), "producer_byte_rate", 1.0, None),
    ],
)
def test_alter_client_quotas_takes_these_values_and_refuses_the_next(
    entity: QuotaEntity, key: str, value: float, text: str | None
) -> None:
    assert refusal(entity, key, value) == text


def test_alter_client_quotas_refuses_a_key_or_an_entity_that_occurs_twice() -> None:
    shown = "Ignoring duplicate entity ClientQuotaEntity(entries={user=null})"
    assert refusal((("user", None),), "producer_byte_rate", 1.0, "producer_byte_rate") == shown
    changes = [QuotaChange([("user", None)], [("producer_byte_rate", rate)]) for rate in (1.0, 2.0)]
    records, ((_, error),) = alter_quotas(Cluster().controller.state, changes)
    assert [record.value for record in records] == [1.0]  # type: ignore[attr-defined]
    assert error is not None
    assert error.message == shown


def test_the_hash_of_an_entity_is_javas() -> None:
    """`31 * 1 + Map.hashCode`: each entry is its key's hash, mixed with that of its value, and 0 for null."""
    user, client = signed_hash_of_text("user"), signed_hash_of_text("client-id")
    assert hash_of_entity((("user", None),)) == (31 + user) & 0xFFFFFFFF
    both = (31 + (user ^ signed_hash_of_text("a")) + client) & 0xFFFFFFFF
    assert hash_of_entity((("user", "a"), ("client-id", None))) == both


def test_results_are_in_the_order_of_a_java_hash_map() -> None:
    names = [f"user-{number}" for number in range(12)]  # sixteen slots, the high bits of the hash mixed in
    changes = [QuotaChange([("user", name)], [("producer_byte_rate", 1.0)]) for name in names]
    _, told = alter_quotas(Cluster().controller.state, changes)

    def slot(name: str) -> int:
        code = 31 + (signed_hash_of_text("user") ^ signed_hash_of_text(name)) & 0xFFFFFFFF
        code &= 0xFFFFFFFF
        return (code ^ code >> 16) & 15

    assert [entity[0][1] for entity, _ in told] == sorted(names, key=slot)
