"""The quotas of a cluster: what counts at which node, and who has to wait."""

from __future__ import annotations

from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.security.quotas.quotas import Quotas, Throttle

ALICE: QuotaEntity = (("user", "alice"),)


def standing() -> tuple[Quotas, BrokerClock]:
    clock = BrokerClock()
    clock.freeze()
    return Quotas(BrokerConfig({"quota.window.num": "2", "controller.quota.window.size.seconds": "3"}), clock), clock


def test_quotas_count_for_each_node_and_changes_reach_all() -> None:
    quotas, clock = standing()
    assert quotas.change({ALICE: {"producer_byte_rate": 10.0, "controller_mutation_rate": 1.0}})
    now_ms = clock.now_ms()
    assert quotas.of(1).produce.use("alice", None, 20.0, now_ms) == 1000  # one whole sample is counted by
    assert quotas.of(2).produce.use("alice", None, 10.0, now_ms) == 0
    assert quotas.of(1) is quotas.of(1)
    assert quotas.mutations.take("alice", None, 33, now_ms, strict=True) == (True, 0)
    assert quotas.mutations.take("alice", None, 1, now_ms, strict=True) == (True, 0)
    assert quotas.mutations.take("alice", None, 1, now_ms, strict=True) == (False, 1000)
    assert not quotas.change({})
    assert quotas.of(1).produce.use("alice", None, 1e9, now_ms) == 0


def test_who_has_to_wait_is_known_until_the_time_is_over() -> None:
    quotas, clock = standing()
    now_ms = clock.now_ms()

    def throttle(connection: str, wait_ms: int) -> Throttle:
        return Throttle(connection, "app", "User:alice", 1, "Produce", "producer_byte_rate", wait_ms, now_ms + wait_ms)

    for number in range(2000):
        quotas.note(throttle(f"c{number}", 0))
    quotas.note(throttle("a", 100))
    quotas.note(throttle("b", 200))
    quotas.note(throttle("a", 300))
    assert {each.connection: each.wait_ms for each in quotas.throttled()} == {"a": 300, "b": 200}
    clock.advance(0.2)
    assert [each.connection for each in quotas.throttled()] == ["a"]
    assert len(quotas._throttles) < 1100, "those whose time is over are dropped"
