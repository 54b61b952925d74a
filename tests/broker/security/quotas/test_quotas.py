"""Which quota counts for whom, and who is counted together."""

from __future__ import annotations

import gzip
import json
import socket
from math import inf, nan
from typing import Any

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.releases.release import DEFAULT, release_of
from odradek.broker.security.quotas.quotas import (
    FETCH,
    PRODUCE,
    AddressQuotas,
    ClientQuota,
    Limits,
    MutationQuota,
    Quotas,
    Throttle,
    longest_wait_ms,
)
from odradek.broker.security.quotas.rate import Window
from tests.fakes.vectors import OTHER, vectors_of

ORDER: tuple[QuotaEntity, ...] = (
    (("client-id", "app"), ("user", "alice")),
    (("client-id", None), ("user", "alice")),
    (("user", "alice"),),
    (("client-id", "app"), ("user", None)),
    (("client-id", None), ("user", None)),
    (("user", None),),
    (("client-id", "app"),),
    (("client-id", None),),
)
"""From the most special to the least."""
COUNTED = [("alice", "app"), ("alice", "app"), ("alice", ""), ("alice", "app"), ("alice", "app"), ("alice", "")]
COUNTED += [("", "app"), ("", "app")]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_quota_of_the_most_special_entity_counts(first: int) -> None:
    limits = Limits(PRODUCE, {entity: {PRODUCE: float(at)} for at, entity in enumerate(ORDER) if at >= first})
    tags = limits.tags("alice", "app")
    assert tags == COUNTED[first]
    assert limits.limit(tags) == first


@pytest.mark.parametrize("alone", range(len(ORDER)))
def test_a_quota_counts_for_the_clients_of_its_entity(alone: int) -> None:
    limits = Limits(PRODUCE, {ORDER[alone]: {PRODUCE: 7.0}})
    assert limits
    assert limits.limit(limits.tags("alice", "app")) == 7
    named = dict(ORDER[alone])
    for user, client in (("bob", "app"), ("alice", "other")):
        hit = named.get("user", user) in (user, None) and named.get("client-id", client) in (client, None)
        assert limits.limit(limits.tags(user, client)) == (7 if hit else None)


def test_other_keys_and_addresses_do_not_count() -> None:
    quotas: dict[QuotaEntity, dict[str, float]] = {(("user", "alice"),): {FETCH: 1.0}, (("ip", None),): {PRODUCE: 1.0}}
    assert not Limits(PRODUCE, quotas)
    assert Limits(FETCH, quotas)


def test_a_client_without_an_id_has_no_quota_where_client_ids_matter() -> None:
    by_client = Limits(PRODUCE, {(("client-id", None),): {PRODUCE: 1.0}})
    assert by_client.limit(by_client.tags("alice", None)) is None
    by_user = Limits(PRODUCE, {(("user", "alice"),): {PRODUCE: 1.0}})
    assert by_user.limit(by_user.tags("alice", None)) == 1
    assert by_user.limit(by_user.tags("alice", "")) == 1


def stories_of(release: str) -> list[dict[str, Any]]:
    stories: list[dict[str, Any]] = json.loads(gzip.decompress(vectors_of("quota_figures", release).read_bytes()))
    return stories


STORIES = {release: stories_of(release) for release in (OTHER, DEFAULT)}
NOW_MS = 1_700_000_000_000
MOST = 1.7976931348623157e308
ALICE: QuotaEntity = (("user", "alice"),)


def limits(quotas: dict[QuotaEntity, float]) -> Limits:
    return Limits(PRODUCE, {entity: {PRODUCE: value} for entity, value in quotas.items()})


def told(story: dict[str, Any], release: str) -> list[Any]:
    """What our quotas say to the steps of a story."""
    window = Window(story["samples"], story["seconds"] * 1000)
    longest_ms = window.sample_ms if story["kind"] == "request" else longest_wait_ms(release_of(release))
    used = ClientQuota(limits({}), window, longest_ms)
    mutations = MutationQuota(limits({}), window)
    quotas: dict[QuotaEntity, float] = {}
    now_ms = NOW_MS
    answers: list[Any] = []
    for step in story["steps"]:
        now_ms += step["after"]
        user, client = step["user"], step["client"]
        match step["does"]:
            case "set":
                parts = [("client-id", client), ("user", user)]
                entity = tuple(part for part in parts if part[1] != "")
                quotas.pop(entity, None)
                if step["value"] is not None:
                    quotas[entity] = step["value"]
                used.limits = mutations.limits = limits(quotas)
            case "record":
                answers.append(used.use(user, client, step["value"], now_ms))
            case "take back":
                used.take_back(user, client, step["value"], now_ms)
            case "most":
                most = used.most_at_once(user, client)
                answers.append(MOST if most == inf else most)
            case does:
                taken, wait_ms = mutations.take(user, client, step["value"], now_ms, strict=does == "strict")
                answers.append(wait_ms if taken else -wait_ms)
    return answers


@pytest.mark.parametrize("release", STORIES)
@pytest.mark.parametrize("kind", ["rate", "request", "mutation"])
def test_quota_throttle_times_are_kafkas(kind: str, release: str) -> None:
    stories = [story for story in STORIES[release] if story["kind"] == kind]
    assert len(stories) > 60
    throttled = 0
    for number, story in enumerate(stories):
        expected = story["answers"]
        if kind != "mutation":  # a wait that has wrapped to less than nothing throttles nobody
            expected = [max(0, answer) for answer in expected]
        assert told(story, release) == expected, f"story {number}"
        throttled += sum(answer != 0 and answer != MOST for answer in expected)
    assert throttled > 100


def test_a_client_without_quotas_costs_nothing() -> None:
    quota = ClientQuota(limits({}), Window(11, 1000))
    assert quota.use("alice", "app", 1e12, NOW_MS) == 0
    assert len(quota._rates) == 0


def test_counters_that_were_unused_for_an_hour_are_forgotten() -> None:
    quota = ClientQuota(limits({(("client-id", None),): 5.0}), Window(11, 1000))
    for number in range(300):
        quota.use("alice", f"client-{number}", 1.0, NOW_MS)
    assert len(quota._rates) == 300
    for number in range(300):
        quota.use("alice", f"other-{number}", 1.0, NOW_MS + 3_600_001)
    assert len(quota._rates) == 300


WINDOW = Window(11, 1000)


def quotas_of(rates: dict[str | None, float], window: Window = WINDOW) -> AddressQuotas:
    quotas = AddressQuotas(window)
    table: dict[QuotaEntity, dict[str, float]] = {
        (("ip", name),): {"connection_creation_rate": rate} for name, rate in rates.items()
    }
    assert quotas.change(table) == bool(rates)
    return quotas


def test_more_than_the_rate_is_kept_waiting_and_does_not_count() -> None:
    quotas = quotas_of({"10.0.0.1": 2.0})
    delays = [quotas.delay_ms(1, "10.0.0.1", NOW_MS) for _ in range(22)]
    assert delays == [0] * 20 + [500, 500], "2.1 a second where 2 may be: (2.1 - 2) / 2 of ten seconds"
    assert quotas.delay_ms(1, "10.0.0.1", NOW_MS + 500) == 0, "21 in 10.5 seconds"
    assert quotas.delay_ms(2, "10.0.0.1", NOW_MS) == 0, "another node"
    assert quotas.delay_ms(1, "10.0.0.2", NOW_MS) == 0, "another address"


def test_it_is_kept_a_sample_at_most() -> None:
    quotas = quotas_of({None: 1.0}, Window(2, 1000))
    assert [quotas.delay_ms(1, "10.0.0.1", NOW_MS) for _ in range(3)] == [0, 1000, 1000]
    assert quotas.delay_ms(1, "10.0.0.2", NOW_MS) == 0


@pytest.mark.parametrize("name", ["127.0.0.1", "127.1", "localhost", "::ffff:127.0.0.1", "0::1"])
def test_an_address_has_many_names(name: str) -> None:
    quotas = quotas_of({name: nan, None: 5.0})
    assert 1000 in (quotas.delay_ms(1, address, NOW_MS) for address in ("127.0.0.1", "0:0:0:0:0:0:0:1"))
    assert quotas.delay_ms(1, "10.0.0.7", NOW_MS) == 0


def test_a_name_is_looked_up_once_until_its_quota_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def look_up(name: str, port: None, **options: Any) -> list[Any]:
        asked.append(name)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    quotas = quotas_of({"client.example": 1.0})
    one: QuotaEntity = (("ip", "client.example"),)
    assert quotas.change({one: {"connection_creation_rate": 2.0}, (("ip", None),): {"connection_creation_rate": 3.0}})
    assert asked == ["client.example"]
    quotas.change({})
    quotas.change({one: {"connection_creation_rate": nan}})
    assert asked == ["client.example"] * 2
    assert quotas.delay_ms(1, "10.0.0.1", NOW_MS) == 1000


def test_what_is_no_quota_of_addresses_does_not_count() -> None:
    quotas = quotas_of({})
    assert not quotas.change({(("user", "a"),): {"connection_creation_rate": 1.0}, (("ip", None),): {"other": 1.0}})
    assert quotas.delay_ms(1, "10.0.0.1", NOW_MS) == 0
    assert quotas.change({(("ip", None),): {"connection_creation_rate": 1e12}})
    assert quotas.delay_ms(1, "10.0.0.1", NOW_MS) == 0


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


def test_a_node_that_has_stopped_begins_anew() -> None:
    quotas, clock = standing()
    assert quotas.change({ALICE: {"producer_byte_rate": 10.0}})
    assert quotas.addresses.change({(("ip", None),): {"connection_creation_rate": 1.0}})
    now_ms = clock.now_ms()
    for node_id in (1, 2):
        assert quotas.of(node_id).produce.use("alice", None, 20.0, now_ms) == 1000
        assert [quotas.delay_ms(node_id, "10.0.0.1") for _ in range(2)] == [0, 1000]
    quotas.forget(1)
    quotas.forget(3)
    assert quotas.of(1).produce.use("alice", None, 10.0, now_ms) == 0
    assert quotas.of(2).produce.use("alice", None, 10.0, now_ms) > 1000
    assert [quotas.delay_ms(node_id, "10.0.0.1") for node_id in (1, 2)] == [0, 1000]


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
