"""The two brokers: odradek and a real Kafka, with the same configuration."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from odradek.broker.config.keys import keys_of_release
from odradek.broker.releases.release import release_of
from odradek.client_security.options import ClientSecurity
from odradek.protocol.apis import API_BY_KEY
from tests.conformance.duel.comparing import AGE
from tests.conformance.duel.conversation import error_codes
from tests.conformance.duel.known import NOT_COORDINATOR
from tests.conformance.duel.nodes import both_clusters
from tests.conformance.duel.pairing import Form
from tests.conformance.duel.side import Door, Side
from tests.conformance.duel.stored_records import INTERNAL_PARTITIONS
from tests.conformance.duel.taming import SHORT_SESSIONS
from tests.conformance.duel.ways import Way
from tests.conformance.older_kafka import OLDER_VERSIONS, OlderKafka
from tests.conformance.real_kafka import CLUSTER_ID, DEFINITION, KAFKA_VERSION, RELEASE, RealKafka, free_ports
from tests.scenarios.sasl_broker import jaas
from tests.scenarios.target import odradek_target, wait_until

CONFIG: Mapping[str, str] = {
    "node.id": "0",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    # Else the time between two changes decides whether a group has one new epoch or two.
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.min.session.timeout.ms": "100",
    **SHORT_SESSIONS,
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


USERS: Mapping[str, str] = {"a": "alice", "b": "alice", "c": "bob", "d": "bob", "e": "carol", "f": "carol"}
"""Connection -> its user, in the way `rights`. All others are those of a super user."""
RIGHTS: Mapping[str, str] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl.plain.sasl.jaas.config": jaas(
        "PLAIN", **{f"user_{name}": f"{name}-secret" for name in ("alice", "bob", "carol")}
    ),
}


_SHARE_FETCH = 78
_KEEPS_DIRECTORIES = (4, 3)
"""Before that release odradek keeps its logs in memory."""


@contextmanager
def both(way: Way, odradek: str = "", kafka: str = "") -> Iterator[tuple[Side, Side]]:
    """odradek and Kafka, made ready; `odradek`, `kafka`: addresses of ones that run already."""
    with ExitStack() as stack:
        starts = both_clusters(stack) if way.nodes else (_odradek(stack, way, odradek), _kafka(stack, way, kafka))
        for side in starts:
            stack.callback(side.hang_up)
            _make_ready(side)
        yield starts


def _odradek(stack: ExitStack, way: Way, address: str) -> Side:
    if address:
        return Side("odradek", Door(address))
    plain, sasl = free_ports(2)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="odradek-duel-")))
    config = dict(_config())
    if AGE >= _KEEPS_DIRECTORIES:
        config["log.dirs"] = str(folder)
    if way.rights:
        config |= {**RIGHTS, "listeners": f"PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl}"}
    release = [] if KAFKA_VERSION == DEFINITION else ["--kafka-version", RELEASE]
    target = stack.enter_context(odradek_target(config=config, arguments=["--cluster-id", CLUSTER_ID, *release]))
    served = f"127.0.0.1:{plain}" if way.rights else target.bootstrap
    return Side(
        "odradek", Door(served), _doors(way, sasl), target.complaints, folder=folder if "log.dirs" in config else None
    )


def _kafka(stack: ExitStack, way: Way, address: str) -> Side:
    if address:
        return Side("kafka", Door(address))
    plain, sasl, controller = free_ports(3)
    config = dict(_config())
    if way.rights:
        listeners = f"PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl}"
        config |= {**RIGHTS, "advertised.listeners": listeners, "controller.quorum.voters": f"0@127.0.0.1:{controller}"}
        config["listeners"] = f"{listeners},CONTROLLER://127.0.0.1:{controller}"
    older = RELEASE in OLDER_VERSIONS
    kafka = OlderKafka(RELEASE, port=plain, config=config) if older else RealKafka(port=plain, config=config)
    node = stack.enter_context(kafka)
    folder = node.log_dir if AGE >= _KEEPS_DIRECTORIES else None
    return Side("kafka", Door(node.bootstrap_servers), _doors(way, sasl), folder=folder)


def _config() -> Mapping[str, str]:
    """The configs that the release knows."""
    known = keys_of_release(release_of(RELEASE)).broker
    return {name: value for name, value in CONFIG.items() if name in known}


def _doors(way: Way, port: int) -> dict[str, Door]:
    return {on: Door(f"127.0.0.1:{port}", _login(user)) for on, user in USERS.items()} if way.rights else {}


def _login(user: str) -> ClientSecurity:
    login = jaas("PLAIN", username=user, password=f"{user}-secret")
    return ClientSecurity.parse(
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": login}
    )


def _make_ready(side: Side) -> None:
    """All partitions of the internal topics answer."""
    groups = [f"ready-{number}" for number in range(40)]
    served = {each["apiKey"] for each in side.ask("ApiVersions", 0, {})["apiKeys"]}
    for kind in (0, 1):
        _coordinators(side, 4, groups, kind)
    if _SHARE_FETCH in served:
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
    """Whether all error codes are these; of several nodes, others may be the coordinators."""
    return error_codes(side.ask(api, version, form)) - ({NOT_COORDINATOR} if side.cluster else set()) <= codes


def served_by_both(sides: tuple[Side, Side]) -> dict[str, tuple[int, int]]:
    """API -> the versions that both serve and that are known here."""
    ranges = []
    for side in sides:
        answer = side.ask("ApiVersions", 0, {})
        ranges.append({each["apiKey"]: (each["minVersion"], each["maxVersion"]) for each in answer["apiKeys"]})
    served = {}
    for key in ranges[0].keys() & ranges[1].keys() & API_BY_KEY.keys():
        spec = API_BY_KEY[key]
        low = max(ranges[0][key][0], ranges[1][key][0], spec.request.MIN_VERSION)
        high = min(ranges[0][key][1], ranges[1][key][1], spec.max_version)
        if low <= high:
            served[spec.name] = (low, high)
    return dict(sorted(served.items()))
