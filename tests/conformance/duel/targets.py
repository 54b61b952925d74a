"""The two brokers: odradek and a real Kafka, with the same configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

from odradek.protocol.apis import API_BY_KEY
from tests.conformance.duel.conversation import error_codes
from tests.conformance.duel.pairing import Form
from tests.conformance.duel.side import Side
from tests.conformance.real_kafka import RealKafka
from tests.scenarios.target import odradek_target, wait_until

INTERNAL_PARTITIONS = 5
CONFIG: Mapping[str, str] = {
    "node.id": "0",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "offsets.topic.num.partitions": str(INTERNAL_PARTITIONS),
    "transaction.state.log.num.partitions": str(INTERNAL_PARTITIONS),
    "share.coordinator.state.topic.num.partitions": str(INTERNAL_PARTITIONS),
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "log.retention.check.interval.ms": "86400000",
    "log.initial.task.delay.ms": "86400000",
    "delegation.token.secret.key": "secret",
}


@contextmanager
def both(odradek: str = "", kafka: str = "") -> Iterator[tuple[Side, Side]]:
    """odradek and Kafka, made ready; `odradek`, `kafka`: addresses of ones that run already."""
    with ExitStack() as stack:
        real = kafka or stack.enter_context(RealKafka(config=CONFIG)).bootstrap_servers
        if odradek:
            own = Side("odradek", odradek)
        else:
            target = stack.enter_context(odradek_target(config=CONFIG))
            own = Side("odradek", target.bootstrap, target.complaints)
        sides = (own, Side("kafka", real))
        for side in sides:
            stack.callback(side.hang_up)
            _make_ready(side)
        yield sides


def _make_ready(side: Side) -> None:
    """All partitions of the internal topics answer."""
    groups = [f"ready-{number}" for number in range(40)]
    for kind in (0, 1):
        _coordinators(side, 4, groups, kind)
    _coordinators(side, 6, [f"ready:AAAAAAAAAAAAAAAAAAAAAQ:{number}" for number in range(20)], 2)
    for group in groups:
        beat = {"groupId": group, "generationId": 1, "memberId": "x", "groupInstanceId": None}
        wait_until("groups", partial(_says, side, "Heartbeat", 4, beat, {25}))
    described = {"transactionalIds": groups}
    wait_until("transactions", partial(_says, side, "DescribeTransactions", 0, described, {105}))


def _coordinators(side: Side, version: int, keys: list[str], kind: int) -> None:
    asked = {"coordinatorKeys": keys, "keyType": kind}
    wait_until("coordinators", partial(_says, side, "FindCoordinator", version, asked, {0}))


def _says(side: Side, api: str, version: int, form: Form, codes: set[int]) -> bool:
    return error_codes(side.ask(api, version, form)) == codes


def served_by_both(sides: tuple[Side, Side]) -> dict[str, tuple[int, int]]:
    """API -> the versions that both serve and that are known here."""
    ranges = []
    for side in sides:
        answer = side.ask("ApiVersions", 0, {})
        ranges.append({each["apiKey"]: (each["minVersion"], each["maxVersion"]) for each in answer["apiKeys"]})
    served = {}
    for key in ranges[0].keys() & ranges[1].keys() & API_BY_KEY.keys():
        spec = API_BY_KEY[key]
        low = max(ranges[0][key][0], ranges[1][key][0], spec.min_version)
        high = min(ranges[0][key][1], ranges[1][key][1], spec.max_version)
        if low <= high:
            served[spec.name] = (low, high)
    return dict(sorted(served.items()))
