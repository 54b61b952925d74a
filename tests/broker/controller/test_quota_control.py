"""Changes of client quotas that no conversation reaches: what is written, and names of hosts."""

from __future__ import annotations

from math import nan

from odradek.broker.cluster import Cluster
from odradek.broker.controller.quota_control import QuotaChange, alter_quotas
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import signed_hash_of_text

ALICE = (("user", "alice"),)


def test_only_changes_are_written_and_nan_is_nan() -> None:
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


def test_results_are_in_the_order_of_a_java_hash_map() -> None:
    names = [f"user-{number}" for number in range(12)]  # sixteen slots, the high bits of the hash mixed in
    changes = [QuotaChange([("user", name)], [("producer_byte_rate", 1.0)]) for name in names]
    _, told = alter_quotas(Cluster().controller.state, changes)

    def slot(name: str) -> int:
        code = 31 + (signed_hash_of_text("user") ^ signed_hash_of_text(name)) & 0xFFFFFFFF
        code &= 0xFFFFFFFF
        return (code ^ code >> 16) & 15

    assert [entity[0][1] for entity, _ in told] == sorted(names, key=slot)
