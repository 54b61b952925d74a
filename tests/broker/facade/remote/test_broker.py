"""A broker over HTTP has the methods, results and errors of one in the process."""

from __future__ import annotations

import inspect
import json
import re
import threading
from typing import Any, cast, get_args

import pytest

import odradek.types
from odradek import KafkaBroker
from odradek.broker.facade.client_configs import Client
from odradek.broker.facade.console import PageLooks
from odradek.broker.facade.records.record import ProducerRecord
from odradek.broker.facade.remote.broker import RemoteSeeding
from odradek.broker.facade.remote.transport import Transport
from odradek.control.server import ControlServer
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.types import RemoteBroker
from tests.fakes.wire_client import WireClient


def test_every_member_asks_the_other_process() -> None:
    for name, member in inspect.getmembers_static(odradek.types.BlockingBroker):
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
            home = next(base for base in RemoteBroker.__mro__ if name in vars(base))
            if name in ("produce", "produce_all"):  # they write with what `_seeding` gives
                home = next(base for base in RemoteBroker.__mro__ if "_seeding" in vars(base))
            assert ".remote" in home.__module__, name


def test_what_is_seen_is_the_same(broker: KafkaBroker, remote: RemoteBroker) -> None:
    broker.produce_all("t", ["a", b"\xff", None], transactional_id="tx")
    broker.group("g").set_offsets({("t", 0): 1})
    assert remote.topics == broker.topics
    assert remote.groups == broker.groups
    assert remote.transactions.keys() == broker.transactions.keys()
    assert list(remote.records("t", control=True)) == list(broker.records("t", control=True))
    assert remote.bootstrap_servers == broker.bootstrap_servers
    for client in get_args(Client):
        for fast in (False, True):
            assert remote.client_config(client=client, fast=fast) == broker.client_config(client=client, fast=fast)
    assert (remote.bugs, remote.denied, remote.faults) == ([], [], [])


@pytest.mark.long
def test_records_are_written_with_serializers_and_in_transactions(broker: KafkaBroker, remote: RemoteBroker) -> None:
    written = remote.produce(
        "t", {"n": 1}, key="k", headers=[("h", None)], value_serializer=lambda v: json.dumps(v).encode()
    )
    (record,) = broker.records("t", written.partition)
    assert (record.key, record.value, record.headers) == (b"k", b'{"n": 1}', (("h", None),))
    assert len(remote.produce_all("t", map(str, range(12_000)))) == 12_000
    remote.produce("t", "gone", transactional_id="tx", transaction="abort")
    assert len(remote.topic("t").wait(12_001, isolation="read_committed")) == 12_001
    assert remote.produce_all("t", []) == []
    with pytest.raises(TypeError, match="expected bytes, text or None as value, not 7"):
        remote.produce("t", 7)


def test_remote_broker_undoes_its_changes(broker: KafkaBroker, remote: RemoteBroker) -> None:
    with remote.kill_node(2):
        assert len(broker.bootstrap_servers.split(",")) == 2
    assert len(broker.bootstrap_servers.split(",")) == 3
    with remote.hold("tx", at="PrepareCommit") as hold:
        assert not hold.reached
        assert re.fullmatch(r"<RemoteTransactionHold \w+, not reached>", repr(hold))
        with pytest.raises(TimeoutError, match="not at PrepareCommit"):
            hold.wait(timeout=0.01)


def test_remote_clock_moves_the_brokers_clock(broker: KafkaBroker, remote: RemoteBroker) -> None:
    with remote.clock.stopped():
        assert broker.clock.frozen
        assert remote.clock.frozen
        before = broker.clock.now_ms()
        assert remote.clock.advance(hours=1) == broker.clock.now_ms() == before + 3_600_000
    assert not broker.clock.frozen


def test_remote_faults_count_their_hits(broker: KafkaBroker, remote: RemoteBroker) -> None:
    first, second = (
        odradek.Fault("Produce", answer="NOT_LEADER_OR_FOLLOWER", topic="t", partition=0),
        odradek.Fault("Fetch"),
    )
    remote.set_faults([first, second])
    assert repr(broker.faults) == repr([first, second]) == repr(remote.faults)
    broker.faults[1].note_hit()
    remote.wait(second)
    assert (first.hits, second.hits, remote.faults[1].hits) == (0, 1, 1)
    with pytest.raises(TimeoutError, match="met by 0 requests"):
        remote.wait(first, timeout=0.01)
    remote.set_faults()
    assert broker.faults == []
    assert second.hits == 1
    with pytest.raises(ValueError, match="set_faults comes first"):
        remote.wait(first)
    with pytest.raises(TypeError, match=r"broker.wait takes a fault"):
        remote.wait("t")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the first argument is a condition"):
        remote.group("g").wait(1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`when` is a function of this process"):
        remote.set_faults(odradek.Fault(when=lambda context, request: True))
    with pytest.raises(TypeError, match="Fault objects"):
        remote.set_faults("Produce")  # type: ignore[arg-type]


def test_a_fault_is_added_to_those_of_others(broker: KafkaBroker, remote: RemoteBroker) -> None:
    broker.set_faults(odradek.Fault("Produce", answer="REQUEST_TIMED_OUT"))
    fault = odradek.Fault("Fetch", delay_ms=1)
    remote.add_fault(fault)
    assert [each.delay_ms for each in broker.faults] == [0, 1]
    broker.faults[1].note_hit()
    remote.wait(fault)
    assert fault.hits == 1
    with pytest.raises(ValueError, match="`when` is a function"):
        remote.add_fault(odradek.Fault("Fetch", when=lambda context, request: True))


def test_remote_broker_reads_a_part_of_a_topic(broker: KafkaBroker, remote: RemoteBroker) -> None:
    broker.produce_all("t", map(str, range(50)))
    here = PageLooks(broker)
    assert remote._remote.operate(PageLooks, "topic_page", None, {"contains": "t"}) == here.topic_page("t")
    assert remote.topic("t").info == broker.topic("t").info
    assert remote._remote.operate(PageLooks, "group_page", None, {}) == here.group_page()
    assert remote.nodes == broker.nodes
    assert remote._remote.operate(PageLooks, "overview", None, {}).topics == here.overview.topics
    assert list(remote.records("t", start=5, limit=3)) == list(broker.records("t", start=5, limit=3))


def test_remote_group_waits_for_its_state(broker: KafkaBroker, remote: RemoteBroker) -> None:
    group = remote.group("g/1")
    late = threading.Timer(0.05, broker.group("g/1").set_offsets, [{("t", 0): 0}])
    late.start()
    assert group.wait(lambda info: info.state == "Empty").group_id == "g/1"
    late.join()
    assert (group.state, group.lag, group.members, group.share_partitions) == ("Empty", 0, (), {})
    assert repr(group) == "<RemoteGroup 'g/1'>"
    with pytest.raises(TimeoutError, match=r"'g/1' after 0\.01 s: Empty"):
        group.wait(timeout=0.01)
    with pytest.raises(TimeoutError, match=r"'g/1' after 0\.01 s: Empty"):
        group.wait(lambda info: False, timeout=0.01)
    with pytest.raises(odradek.LagUnknownError, match="'typo' does not exist"):
        _ = remote.group("typo").lag


def test_errors_are_those_of_the_broker(remote: RemoteBroker) -> None:
    with pytest.raises(odradek.KafkaError, match="topic 't': ") as caught:
        remote.create_topic("t")
    assert caught.value.code is odradek.ErrorCode.TOPIC_ALREADY_EXISTS
    with pytest.raises(ValueError, match="no node 9"):
        remote.kill_node(9)
    with pytest.raises(KafkaError, match="no topic"):
        remote.records("no")
    with pytest.raises(KeyError, match=r"broker\.topics has no 'no'; it has t"):
        _ = remote.topics["no"]
    with pytest.raises(RuntimeError, match="in another process"):
        _ = remote.cluster


def test_who_is_not_there_or_not_let_in(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match="expected http://HOST:PORT"):
        odradek.connect("localhost:80")
    with ControlServer(broker, token="s3cret") as server:
        with pytest.raises(PermissionError, match="token"):
            odradek.connect(server.url)
        connected = odradek.connect(server.url, "s3cret")
        assert repr(connected) == f"<RemoteBroker at {server.url}>"
    with pytest.raises(odradek.BrokerClosedError, match="no control API answers at http"):
        _ = connected.topics


def test_a_snapshot_stays_with_the_broker(broker: KafkaBroker, remote: RemoteBroker) -> None:
    before = remote.snapshot()
    assert re.fullmatch(r"<RemoteHandle /v1/snapshots/\w+>", repr(before))
    remote.produce("t", "x")
    remote.restore(before)
    assert list(broker.records("t")) == []


def test_what_clients_asked_is_seen(broker: KafkaBroker, remote: RemoteBroker) -> None:
    with WireClient.at(broker.bootstrap_servers, client_id="c") as client:
        client.request(ApiVersionsRequest(), 0)
    (found,) = remote.requests.wait("ApiVersions", client_id="c")
    assert (found.api, found.client_id) == ("ApiVersions", "c")
    assert len(remote.requests) == len(broker.requests) == remote.requests.count("ApiVersions")
    remote.requests.clear()
    assert len(broker.requests) == 0
    with pytest.raises(TimeoutError):
        remote.requests.wait("Fetch", timeout=0.01)
    with pytest.raises(ValueError, match="`when` is a function"):
        remote.requests.wait(when=lambda request: True)
    with pytest.raises(RuntimeError, match="/v1/requests/stream"):
        remote.requests.follow(lambda request: None)


class Asked:
    """Keeps what would be asked for."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def call(self, member: str, /, **arguments: Any) -> list[int]:
        assert member == "produce_all"
        self.calls.append(arguments)
        return [len(arguments["records"])]


def write(records: list[Any], transactional_id: str | None = None, **serializers: Any) -> list[dict[str, Any]]:
    asked = Asked()
    given = {"key_serializer": None, "value_serializer": None} | serializers
    work = RemoteSeeding(cast("Transport", asked), "t", **given).write(records, transactional_id, "commit")
    for _ in work:
        pass
    return asked.calls


def test_remote_broker_sends_records_as_json() -> None:
    full = ProducerRecord(1, "k", {"h": None}, 2, 5)
    (call,) = write(["a", None, full], value_serializer=lambda value: repr(value).encode())
    assert call == {
        "topic": "t",
        "records": [
            {"value": b"'a'", "headers": []},
            {"value": b"None", "headers": []},
            {"value": b"1", "key": b"k", "headers": [["h", None]], "partition": 2, "timestamp": 5},
        ],
        "transactional_id": None,
        "transaction": "commit",
    }


def test_many_records_are_several_requests_and_a_transaction_is_one() -> None:
    assert [len(call["records"]) for call in write(["x"] * 12_000)] == [5000, 5000, 2000]
    assert [len(call["records"]) for call in write(["x"] * 12_000, "tx")] == [12_000]
    assert [len(call["records"]) for call in write([])] == [0]


def test_what_is_no_bytes_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(TypeError, match="expected bytes, text or None as value, not 7"):
        write(["a", 7])
