"""Attacks on a broker with everything on: what they cost, whom they touch, and what they learn."""

from __future__ import annotations

import logging
import socket
import struct
from contextlib import ExitStack
from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.net.connection import Connection
from odradek.broker.net.connection_states import ConnectionState
from odradek.broker.requests.bugs import BugLog
from odradek.broker.requests.recent_requests import RecentRequests
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages import alter_configs, incremental_alter_configs
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.create_acls import AclCreation, CreateAclsRequest
from odradek.protocol.generated.messages.create_delegation_token import CreateDelegationTokenRequest
from odradek.protocol.generated.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from tests.attack.doors import DOORS, dial, prepare, secured
from tests.broker.conftest import request_frame, response_of
from tests.broker.probes import Wire
from tests.fakes.brokers import broker_fixture

BY_NAME = {door.name: door for door in DOORS}
ROOT, GUEST = BY_NAME["SASL as root"], BY_NAME["SASL as guest"]
MANY = 300
A_MEGABYTE = 1 << 20
broker = broker_fixture(topics={"p-data": 1, "secret": 1}, config=secured())


@pytest.fixture
def ports(broker: KafkaBroker) -> dict[str, int]:
    return prepare(broker)


def ask(wire: Wire, request: Any, version: int | None = None) -> Any:
    """The response to a request."""
    chosen = request.MAX_VERSION if version is None else version
    wire.send(request_frame(request, chosen))
    frame = wire.frame()
    assert frame is not None, "closed"
    return response_of(request, chosen, frame)[1]


def connections(broker: KafkaBroker) -> list[Connection]:
    found: list[Connection] = broker._call(lambda: broker.cluster.server.connections)
    return found


def held_bytes(broker: KafkaBroker) -> int:
    """What the receive buffers of all connections hold."""
    return sum(len(connection._buffer._buffer) for connection in connections(broker))


def is_closed(wire: Wire) -> bool:
    return wire.frame() is None


# --- what they cost ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "SASL before the log-in", "SASL over TLS before the log-in"])
def test_heads_of_huge_frames_cost_no_memory(broker: KafkaBroker, ports: dict[str, int], name: str) -> None:
    with ExitStack() as stack:
        bystander = stack.enter_context(dial(ROOT, ports))
        for _ in range(30):
            wire = stack.enter_context(dial(BY_NAME[name], ports))
            wire.send(struct.pack(">i", 500_000) + bytes(100))
        ask(bystander, ApiVersionsRequest(), 0)
        assert held_bytes(broker) <= 40 * 16 * 1024


def test_log_ins_that_hold_too_much_in_sum_are_cut_the_oldest_first(broker: KafkaBroker, ports: dict[str, int]) -> None:
    (room,) = {new.keywords["login_bytes"] for new in gates_of(broker)}
    room.limit = A_MEGABYTE
    with ExitStack() as stack:
        bystander = stack.enter_context(dial(ROOT, ports))
        wires = [stack.enter_context(dial(BY_NAME["SASL before the log-in"], ports)) for _ in range(12)]
        for wire in wires:
            wire.send(struct.pack(">i", 500_000) + bytes(200_000))
        while sum(connection.state is not ConnectionState.CLOSED for connection in connections(broker)) > 9:
            ask(bystander, ApiVersionsRequest(), 0)
        assert room.sum <= A_MEGABYTE
        assert is_closed(wires[0])
        new = stack.enter_context(dial(GUEST, ports))
        ask(new, ApiVersionsRequest(), 0)


def gates_of(broker: KafkaBroker) -> list[Any]:
    gates: Any = broker.cluster.server._gates
    return list(gates.values())


def test_long_client_ids_are_not_kept(broker: KafkaBroker, ports: dict[str, int]) -> None:
    kept = broker.cluster.dispatcher._client_ids
    with dial(BY_NAME["plain"], ports) as wire:
        for number in range(50):
            wire.send(request_frame(ApiVersionsRequest(), 0, client_id=f"{number}" + "x" * 32_000))
            assert wire.frame() is not None
    assert sum(map(len, kept)) < 10_000


def test_names_of_failed_log_ins_are_kept_in_part(broker: KafkaBroker, ports: dict[str, int]) -> None:
    for token in (b"\0" + b"x" * 400_000 + b"\0wrong", b"x" * 400_000):
        with dial(BY_NAME["SASL before the log-in"], ports) as wire:
            log_in(wire, "PLAIN", token)
    with dial(BY_NAME["SASL before the log-in"], ports) as wire:
        ask(wire, SaslHandshakeRequest("y" * 30_000))
    denied = broker.cluster.services.denials.entries
    assert len(denied) == 3
    assert len(repr(denied)) < 10_000


# --- whom they touch --------------------------------------------------------------------------------------------------


def test_crowds_that_never_finish_touch_nobody_else(broker: KafkaBroker, ports: dict[str, int]) -> None:
    with ExitStack() as stack:
        bystander = stack.enter_context(dial(ROOT, ports))
        for number in range(MANY):
            half_open = stack.enter_context(socket.create_connection(("127.0.0.1", ports["SSL"])))
            if number % 2:
                half_open.sendall(b"\x16\x03\x01\x02\x00\x01")
            wire = stack.enter_context(dial(BY_NAME["SASL before the log-in"], ports))
            wire.send(request_frame(SaslHandshakeRequest("SCRAM-SHA-256"), 1)[: 5 + number % 30])
        for door in DOORS:
            if not door.raw and (door.user or not door.logs_in):
                ask(stack.enter_context(dial(door, ports)), ApiVersionsRequest(), 0)
        ask(bystander, MetadataRequest(topics=None))


def test_who_drips_a_log_in_is_cut_on_the_brokers_clock(broker: KafkaBroker, ports: dict[str, int]) -> None:
    broker.clock.freeze()
    frame = request_frame(SaslHandshakeRequest("PLAIN"), 1)
    with dial(BY_NAME["SASL before the log-in"], ports) as dripping, dial(BY_NAME["plain"], ports) as bystander:
        for at in range(5):
            dripping.send(frame[at : at + 1])
            ask(bystander, ApiVersionsRequest(), 0)
            broker.clock.advance(minutes=3)
        assert is_closed(dripping)
        ask(bystander, ApiVersionsRequest(), 0)


# --- what they may do -------------------------------------------------------------------------------------------------


def codes_of(wire: Wire, request: FetchRequest) -> tuple[int, list[int]]:
    answer = ask(wire, request, 12)
    return answer.session_id, [partition.error_code for topic in answer.responses for partition in topic.partitions]


def fetch(*topics: str, session: int = 0, epoch: int = 0, wait_ms: int = 0) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1 if wait_ms else 0,
        session_id=session,
        session_epoch=epoch,
        topics=[
            FetchTopic(topic=name, partitions=[FetchPartition(partition=0, partition_max_bytes=A_MEGABYTE)])
            for name in topics
        ],
    )


def test_a_change_of_rights_counts_from_the_next_request_on(broker: KafkaBroker, ports: dict[str, int]) -> None:
    with dial(GUEST, ports) as guest, dial(ROOT, ports) as root:
        session, codes = codes_of(guest, fetch("p-data"))
        assert (session > 0, codes) == (True, [0])
        answer = ask(root, DeleteAclsRequest([DeleteAclsFilter(1, None, 1, "User:guest", None, 1, 1)]))
        assert len(answer.filter_results[0].matching_acls) == 5
        assert codes_of(guest, fetch(session=session, epoch=1)) == (session, [ErrorCode.TOPIC_AUTHORIZATION_FAILED])
        acl = AclCreation(2, "p-data", 3, "User:guest", "*", 3, 3)
        ask(root, CreateAclsRequest([acl]))
        assert codes_of(guest, fetch(session=session, epoch=2)) == (session, [0])


def test_the_fetch_session_of_another_principal_shows_nothing(broker: KafkaBroker, ports: dict[str, int]) -> None:
    broker.produce("secret", b"for root alone")
    with dial(GUEST, ports) as guest, dial(ROOT, ports) as root:
        session, codes = codes_of(root, fetch("secret"))
        assert codes == [0]
        taken = ask(guest, fetch(session=session, epoch=1), 12)
        assert all(
            partition.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED and not partition.records
            for topic in taken.responses
            for partition in topic.partitions
        )


def test_a_parked_fetch_waits_with_the_rights_it_came_with(broker: KafkaBroker, ports: dict[str, int]) -> None:
    with dial(GUEST, ports) as guest, dial(ROOT, ports) as root:
        waiting = fetch("p-data", wait_ms=60_000, epoch=-1)
        guest.send(request_frame(waiting, 12))
        waits = {ConnectionState.PARKED, ConnectionState.WAITING}
        while all(each.state not in waits for each in connections(broker)):
            ask(root, ApiVersionsRequest(), 0)
        ask(root, DeleteAclsRequest([DeleteAclsFilter(1, None, 1, "User:guest", None, 1, 1)]))
        broker.produce("p-data", b"late")
        frame = guest.frame()
        assert frame is not None
        (topic,) = response_of(waiting, 12, frame)[1].responses
        assert (topic.partitions[0].error_code, b"late" in bytes(topic.partitions[0].records)) == (0, True)
        assert codes_of(guest, fetch("p-data", epoch=-1))[1] == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]


# --- what they learn --------------------------------------------------------------------------------------------------

SECRETS = ("root-secret", "guest-secret", "hunter2", "fuzz-token-key", "eyJzdWIi")


def log_in(wire: Wire, mechanism: str, token: bytes, version: int = 1) -> None:
    ask(wire, SaslHandshakeRequest(mechanism), version)
    if version == 0:
        wire.send(struct.pack(">i", len(token)) + token)
        wire.frame()
    else:
        ask(wire, SaslAuthenticateRequest(token))


def test_secrets_are_in_no_log_repr_answer_or_report(
    broker: KafkaBroker, ports: dict[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []
    with caplog.at_level(logging.DEBUG):
        for token in (b"\0root\0root-secret", b"\0root\0hunter2", b"\0hunter2", b"hunter2\0root\0root-secret\0"):
            for version in (0, 1):
                with dial(BY_NAME["SASL before the log-in"], ports) as wire:
                    log_in(wire, "PLAIN", token, version)
        with dial(BY_NAME["SASL before the log-in"], ports) as wire:
            log_in(wire, "OAUTHBEARER", b"n,,\x01auth=Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJodW50ZXIyIn0.\x01\x01")
        with dial(ROOT, ports) as root:
            upsertions = [ScramCredentialUpsertion("u", 1, few, b"hunter2", b"hunter2") for few in (1, 4096)]
            for upsertion in upsertions:
                told.append(repr(ask(root, AlterUserScramCredentialsRequest([], [upsertion]))))
            told.append(repr(ask(root, CreateDelegationTokenRequest())))
            for name in (
                "ssl.keystore.password",
                "listener.name.saslssl.plain.sasl.jaas.config",
                "nobody.knows.password",
            ):
                resource = incremental_alter_configs.AlterConfigsResource(
                    4, "1", [incremental_alter_configs.AlterableConfig(name, 0, "hunter2")]
                )
                told.append(repr(ask(root, incremental_alter_configs.IncrementalAlterConfigsRequest([resource]))))
                old = alter_configs.AlterConfigsResource(4, "1", [alter_configs.AlterableConfig(name, "hunter2")])
                told.append(repr(ask(root, alter_configs.AlterConfigsRequest([old], validate_only=True))))
            with dial(GUEST, ports) as guest:
                told.append(repr(ask(guest, AlterUserScramCredentialsRequest([], upsertions))))
                told.append(repr(ask(guest, incremental_alter_configs.IncrementalAlterConfigsRequest([resource]))))
            answer = ask(root, DescribeConfigsRequest([DescribeConfigsResource(4, "1", None)], True, True))
            shown = answer.results[0].configs
            told += [f"{each.name}={each.value!s} {[s.value for s in each.synonyms]}" for each in shown]
    told += [repr(broker), str(broker.cluster.config), repr(broker.cluster.services.denials.entries), caplog.text]
    told += [repr(vars(record)) for record in caplog.records]
    everything = "\n".join(told)
    assert len(everything) > 20_000
    assert [secret for secret in SECRETS if secret in everything] == []


@pytest.mark.parametrize(
    "request_",
    [
        SaslAuthenticateRequest(b"hunter2 of alice"),
        AlterUserScramCredentialsRequest([], [ScramCredentialUpsertion("u", 1, 4096, b"hunter2", b"hunter2")]),
        incremental_alter_configs.IncrementalAlterConfigsRequest(
            [
                incremental_alter_configs.AlterConfigsResource(
                    4, "1", [incremental_alter_configs.AlterableConfig("ssl.keystore.password", 0, "hunter2")]
                )
            ]
        ),
    ],
)
def test_a_bug_report_holds_no_password(request_: Any) -> None:
    log = BugLog(RecentRequests())
    frame = request_frame(request_, 1 if hasattr(request_, "resources") else 0, client_id="alice's")[4:]
    log.report("a handler", ValueError("wrong"), frame)
    (bug,) = log.bugs
    assert b"hunter2" in frame
    assert b"hunter2" not in bug.frame
    assert b"alice's" in bug.frame
    assert "hunter2" not in f"{bug}{bug!r}"


def test_a_name_writes_no_line_into_the_log(
    broker: KafkaBroker, ports: dict[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    evil = "x\nERROR odradek: all is lost\x1b[2J"
    with caplog.at_level(logging.DEBUG):
        with dial(BY_NAME["SASL before the log-in"], ports) as wire:
            ask(wire, SaslHandshakeRequest(evil))
        with dial(BY_NAME["SASL before the log-in"], ports) as wire:
            log_in(wire, "PLAIN", b"\0" + evil.encode() + b"\0wrong")
        with dial(GUEST, ports) as guest:
            ask(guest, MetadataRequest(topics=[MetadataRequestTopic(name=evil)]), 9)
    lines = [record.getMessage() for record in caplog.records]
    assert any("all is lost" in line for line in lines)
    assert [line for line in lines if "\n" in line or "\x1b" in line] == []


def test_a_guest_learns_nothing_of_what_is_hidden(broker: KafkaBroker, ports: dict[str, int]) -> None:
    with dial(GUEST, ports) as guest:
        answer = ask(guest, MetadataRequest(topics=None))
        assert [topic.name for topic in answer.topics] == ["p-data"]
        named = [MetadataRequestTopic(name=name) for name in ("secret", "not-there")]
        answer = ask(guest, MetadataRequest(topics=named))
        codes = {(topic.name, topic.error_code) for topic in answer.topics}
        refused = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        assert codes == {("secret", refused), ("not-there", refused)}
