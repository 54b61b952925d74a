"""Log-ins with a broker of the test's own, held against those of a real Kafka, and what gates promise."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from itertools import zip_longest
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis.strategies import lists, sampled_from

from odradek.broker.api.served import SERVED
from odradek.broker.clock import BrokerClock
from odradek.broker.cluster import Cluster
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import SecurityProtocol
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.net.connection_states import ConnectionState
from odradek.broker.net.login_gate import FailedLogins, login_budget
from odradek.broker.requests.context import CloseConnection, ConnectionInfo
from odradek.broker.requests.dispatch import Pending
from odradek.broker.security.denials import Denials
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.list_transactions import ListTransactionsRequest
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from odradek.wire_client import request_frame
from tests.fakes.brokers import broker_fixture
from tests.fakes.examples import examples
from tests.fakes.vectors import OTHER, cases, recorded
from tests.scenarios.login_conversation import Login, plain
from tests.scenarios.login_conversations import CONVERSATIONS, transcribe
from tests.scenarios.sasl_broker import LISTENERS, PLAIN_USERS, SECRET_KEY, sasl_properties
from tests.scenarios.target import unique, wait_until

# -- What limits log-ins: failed ones are answered late, and all of them hold so many bytes.


def test_a_failed_log_in_is_logged_in_kafkas_words_and_kept_among_the_denials(caplog: pytest.LogCaptureFixture) -> None:
    denials = Denials()
    client = ConnectionInfo(id="a:1-b:2-3", peer_host="10.0.0.7", listener="SASL")
    with caplog.at_level(logging.INFO, "odradek.broker"):
        FailedLogins(BrokerClock(start_ms=5000), lambda: 100, denials).tell(
            client, "authentication", "no", api="SaslAuthenticate", more=": he is a stranger", claimed="alice"
        )
    assert [record.getMessage() for record in caplog.records] == [
        "Failed authentication with /10.0.0.7 (channelId=a:1-b:2-3) (no)"
    ]
    (denial,) = denials.entries
    assert (denial.principal, denial.host, denial.operation, denial.listener, denial.api, denial.reason) == (
        "User:alice",
        "10.0.0.7",
        "LOGIN",
        "SASL",
        "SaslAuthenticate",
        "no: he is a stranger",
    )


def test_the_delay_is_on_the_brokers_clock() -> None:
    trio.run(_delay)


async def _delay() -> None:
    clock = BrokerClock()
    clock.attach()
    clock.freeze()
    over = trio.Event()

    async def wait() -> None:
        await FailedLogins(clock, lambda: 100, Denials()).delay()
        over.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        clock.advance(0.09)
        await trio.testing.wait_all_tasks_blocked()
        assert not over.is_set()
        clock.advance(0.02)
        await over.wait()


class HeldLogin:
    def __init__(self) -> None:
        self.reason = ""

    def cut(self, reason: str) -> None:
        self.reason = reason


def test_the_log_in_that_grew_least_recently_is_cut_for_the_others() -> None:
    room = login_budget(limit=100)
    first, second = HeldLogin(), HeldLogin()
    room.hold(first, 60)
    room.hold(second, 60)
    assert (first.reason, second.reason) == ("the log-ins under way hold more than 100 bytes", "")


NAMES = {spec.name for spec in API_BY_KEY.values()}
broker = broker_fixture(scope="module", config=sasl_properties(dict.fromkeys(LISTENERS, 0)))
older = broker_fixture(scope="module", config=sasl_properties(dict.fromkeys(LISTENERS, 0)), kafka_version=OTHER)


def ports(broker: KafkaBroker) -> dict[str, int]:
    (node,) = broker.cluster.nodes.values()
    return {name: endpoint.port for name, endpoint in node.endpoints.items()}


def differing(transcript: list[Any], recorded: list[Any]) -> list[Any]:
    """What is not as on Kafka, but for APIs that are not served."""
    served = {API_BY_KEY[key].name for key in SERVED.advertised()}
    return [
        (ours, kafkas)
        for ours, kafkas in zip_longest(transcript, recorded)
        if ours != kafkas and (ours is None or ours[0].split(" v")[0] in served or ours[0].split(" v")[0] not in NAMES)
    ]


@pytest.mark.long(
    "again_wrongly",
    "handshakes",
    "other_requests",
    f"other_requests-{OTHER}",
    "plain_tokens",
    "scram_final",
    "scram_first",
    "scram_users",
)
@pytest.mark.parametrize(("name", "release"), cases("login_conversations", CONVERSATIONS))
def test_a_conversation_goes_as_with_kafka(name: str, release: str, request: pytest.FixtureRequest) -> None:
    broker: KafkaBroker = request.getfixturevalue("older" if release == OTHER else "broker")
    found = ports(broker)
    told = transcribe(name, found, broker.clock.advance, release)
    assert differing(told, recorded("login_conversations", release)[name]) == []
    assert broker.bugs == []


# -- what gates promise


class Socketless:
    """What a gate has of its connection."""

    closing = False
    opened = False

    def end(self) -> None:
        self.closing = True

    def limit_frames(self, max_bytes: int | None, on_growth: object = None) -> None:
        self.most_bytes = max_bytes

    def open_gate(self) -> None:
        self.opened = True


PASSWORD = plain("alice")
FRAMES: dict[str, bytes] = {
    "groups": request_frame(ListGroupsRequest(), 4, 1)[4:],
    "transactions": request_frame(ListTransactionsRequest(), 0, 2)[4:],
    "versions": request_frame(ApiVersionsRequest("t", "1"), 3, 3)[4:],
    "handshake v0": request_frame(SaslHandshakeRequest("PLAIN"), 0, 4)[4:],
    "handshake v1": request_frame(SaslHandshakeRequest("PLAIN"), 1, 5)[4:],
    "scram": request_frame(SaslHandshakeRequest("SCRAM-SHA-256"), 1, 6)[4:],
    "nonesuch": request_frame(SaslHandshakeRequest("nonesuch"), 1, 7)[4:],
    "right": request_frame(SaslAuthenticateRequest(PASSWORD), 2, 8)[4:],
    "wrong": request_frame(SaslAuthenticateRequest(plain("alice", "wrong")), 2, 9)[4:],
    "raw right": PASSWORD,
    "raw wrong": plain("alice", "wrong"),
    "garbage": b"\xff" * 20,
    "nothing": b"",
}
SERVED_FRAMES = ("groups", "transactions")
RIGHT_AFTER = {"right": "handshake v1", "raw right": "handshake v0"}


@pytest.mark.parametrize("listener", ["SASL", "REAUTH"])
@given(names=lists(sampled_from(sorted(FRAMES)), max_size=12))
@settings(deadline=None, max_examples=examples(300))
def test_no_order_of_frames_gets_a_request_served_before_the_log_in(listener: str, names: list[str]) -> None:
    trio.run(_talk, listener, names)


async def _talk(listener: str, names: list[str]) -> None:
    cluster = idle_cluster()
    connection = Socketless()
    (node,) = cluster.nodes.values()
    gate = cluster.server._gates[node.id, listener](connection)
    info = ConnectionInfo(listener=listener, protocol=SecurityProtocol.SASL_PLAINTEXT)
    logged_in, before = False, ""
    for name in names:
        try:
            answer = gate.begin(node, info, memoryview(FRAMES[name]))
            if isinstance(answer, Pending):
                answer = await gate.finish(answer)
        except CloseConnection:
            assert info.principal.name != "alice" or logged_in
            return
        assert not isinstance(answer, Pending)
        logged_in = logged_in or RIGHT_AFTER.get(name) == before
        before = name
        if name in SERVED_FRAMES:
            served = answer is not None and joined(answer)[13:15] == b"\0\0"  # behind header and throttle time
            assert served == (logged_in and not connection.closing)
        assert (info.principal.name == "alice") == logged_in
        if connection.closing:
            return


@cache
def idle_cluster() -> Cluster:
    """A cluster that does not run; failed log-ins wait for nothing."""
    config = sasl_properties(dict.fromkeys(LISTENERS, 0))
    return Cluster(config={**config, "connection.failed.authentication.delay.ms": "0"})


@pytest.fixture
def login(broker: KafkaBroker) -> Iterator[Login]:
    with closing(Login(ports(broker))) as opened:
        yield opened


def test_a_failed_log_in_is_answered_after_the_delay_on_the_brokers_clock(broker: KafkaBroker, login: Login) -> None:
    login.opens()
    login.handshakes("PLAIN")
    (connection,) = broker.cluster.server.connections[-1:]
    with broker.clock.stopped():
        login.sends("a wrong password", login.frame(SaslAuthenticateRequest(plain("alice", "wrong")), 2))
        wait_until("the refusal", lambda: connection.state is ConnectionState.WAITING)
        broker.clock.advance(0)
        broker.clock.advance(0.019)  # returns when the broker has done all that it can
        assert connection.state is ConnectionState.WAITING
        broker.clock.advance(0.002)
        login.hears(SaslAuthenticateRequest(), 2)
        login.hears_the_end()
    assert login.transcript[-1][1]["errorCode"] == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert login.transcript[-1][2] == "closed"


def test_who_does_not_log_in_is_cut_however_busy(broker: KafkaBroker, login: Login) -> None:
    login.opens()
    assert login.socket is not None
    with suppress(OSError):
        for byte in login.frame(SaslHandshakeRequest("PLAIN"), 1)[:9]:
            login.socket.sendall(bytes([byte]))
            broker.clock.advance(120)
    login.sends("no more", b"")
    login.hears_the_end()
    assert login.transcript[-1][1] == "closed"


def test_a_log_in_that_failed_is_told_without_its_password(
    broker: KafkaBroker, login: Login, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG", "odradek"):
        login.opens()
        login.handshakes("PLAIN")
        login.authenticates(plain("alice", "topsecret"))
        login.logs_in("alice")
        login.is_served()
    (denial,) = list(broker.cluster.services.denials.entries)[-1:]
    assert denial.principal == "User:alice"
    assert denial.reason == "Authentication failed: Invalid username or password"
    assert "Failed authentication with /127.0.0.1 (channelId=" in caplog.text
    for secret in ("topsecret", PLAIN_USERS["alice"], SECRET_KEY):
        assert secret not in caplog.text + repr(denial)


def _waits(broker: KafkaBroker) -> bool:
    """Whether a request waits on one of the connections: it came before the session's end then."""
    waiting = (ConnectionState.PARKED, ConnectionState.WAITING)
    found: bool = broker._call(lambda: any(each.state in waiting for each in broker.cluster.server.connections))
    return found


def test_a_long_poll_over_the_end_of_the_session_is_answered(broker: KafkaBroker, login: Login) -> None:
    topic = unique("polled")
    broker.create_topic(topic)
    login.logs_in(listener="SHORT")
    fetch = FetchRequest(
        max_wait_ms=5000, min_bytes=1, topics=[FetchTopic(topic=topic, partitions=[FetchPartition(0)])]
    )
    login.sends("Fetch", login.frame(fetch, 4))
    while not _waits(broker):
        pass
    broker.clock.advance(6)
    assert login.hears(fetch, 4) is not None
    login.is_served()
    assert login.transcript[-1][1] == "closed"


def test_who_is_cut_at_the_end_of_the_session_is_told(broker: KafkaBroker, login: Login) -> None:
    login.logs_in(listener="SHORT")
    broker.clock.advance(6)
    login.is_served()
    assert login.transcript[-1][1] == "closed"
    denial = broker.denied[-1]
    assert (denial.operation, denial.principal, denial.listener) == ("LOGIN", "User:alice", "SHORT")
    assert denial.reason == "its session has ended, and it has not authenticated again"


def test_each_sasl_listener_has_one() -> None:
    cluster = Cluster(config=sasl_properties(dict.fromkeys(LISTENERS, 0)))
    assert {name for _, name in cluster.server._gates} == {"SASL", "REAUTH", "SHORT"}


def test_a_mechanism_that_is_not_there_ends_the_start() -> None:
    config = sasl_properties(dict.fromkeys(LISTENERS, 0))
    config["sasl.enabled.mechanisms"] = "PLAIN,DIGEST-MD5"
    with pytest.raises(ConfigError, match="SASL mechanism DIGEST-MD5 is not served"):
        Cluster(config=config)


def test_a_cluster_without_them_imports_nothing_of_it() -> None:
    code = (
        "import sys; from odradek.broker.cluster import Cluster; Cluster(); "
        "print([n for n in sys.modules if '.sasl' in n or 'login' in n])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
