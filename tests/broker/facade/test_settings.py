"""What a broker is started with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from odradek import KafkaBroker, open_broker
from odradek.broker.facade.broker import Broker
from odradek.broker.facade.report.strictness import Strictness, StrictnessError, StrictnessFinding
from odradek.broker.facade.settings import Settings, StartedBroker
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.wire_client import WireClient
from tests.fakes.state_walk import CONFIG, StateWalk


def test_listeners_and_an_address_exclude_each_other() -> None:
    config = {"listeners": "PLAINTEXT://127.0.0.1:0"}
    given = Settings(config=config)
    assert given.address == (None, 0)
    assert Settings(port=9092).address == ("127.0.0.1", 9092)
    with pytest.raises(ValueError, match="listeners sets the address"):
        Settings(config=config, port=9092)


def test_settings_refuse_security_that_is_no_object() -> None:
    security: Any = True
    with pytest.raises(TypeError, match="security=True: expected"):
        Settings(security=security)


def test_a_node_has_configs_of_its_own() -> None:
    own = {2: {"auto.create.topics.enable": False}}
    config = Settings(2, node_config=own).cluster.config
    assert [config.get_bool("auto.create.topics.enable", node_id) for node_id in (1, 2)] == [True, False]


def test_an_unknown_argument_of_a_broker_is_told_with_its_name() -> None:
    arguments: dict[str, Any] = {"topcs": ["t"]}
    with pytest.raises(TypeError, match=r"^KafkaBroker\.__init__\(\) got an unexpected keyword argument 'topcs'"):
        KafkaBroker(**arguments)
    with pytest.raises(ValueError, match="only KafkaBroker starts a process"):
        Settings(process=True)


FINDING = StrictnessFinding("auto-created", "topic 't' was created automatically")


class FakeBroker(StartedBroker):
    def __init__(self, *, ended: BrokerClosedError | None = None, judged_after_end: bool = False) -> None:
        self._strict = Strictness.of(True)
        self.closed = 0
        self._ended = ended
        self._judged_after_end = judged_after_end

    def close(self) -> None:
        self.closed += 1
        if self._ended is not None:
            raise self._ended

    def strictness(self, since: float | None = None, also: str = "") -> list[StrictnessFinding]:
        if self._judged_after_end:
            raise BrokerClosedError("the broker is closed")
        return [FINDING]


def test_a_strict_broker_is_judged_once() -> None:
    broker = FakeBroker()
    judge = broker._judgement()
    with pytest.raises(StrictnessError, match=r"created automatically \[auto-created\]"):
        judge()
    broker._judgement()()


def test_a_broker_that_has_ended_is_not_judged() -> None:
    broker = FakeBroker(judged_after_end=True)
    broker._judgement()()
    assert broker._strict is None


def test_the_error_of_the_block_is_kept_and_says_how_the_broker_ended() -> None:
    ended = BrokerClosedError("the broker ended with an error")
    ended.__cause__ = OSError("no room")
    error = ValueError("of the test")
    broker = FakeBroker(ended=ended)
    broker.__exit__(ValueError, error, None)
    assert (broker.closed, broker._strict) == (1, None)
    assert error.__notes__ == ["and the broker ended with OSError('no room')"]


def test_without_an_error_closing_may_raise() -> None:
    broker = FakeBroker(ended=BrokerClosedError("the broker ended with an error"))
    with pytest.raises(BrokerClosedError):
        broker.__exit__(None, None, None)
    assert broker._strict is not None


def _values(broker: Broker, isolation: str = "read_uncommitted") -> list[bytes | None]:
    return [record.value for record in broker.records("a", isolation=isolation)]  # type: ignore[arg-type]


def test_a_fork_looks_like_what_it_was_taken_of() -> None:
    steps = [(step, choice) for choice in range(2) for step in (0, 2, 4, 6, 7, 9, 11, 12, 13, 16, 19, 20, 21, 22)]
    with KafkaBroker(topics={"a": 1, "b": 2}, config=CONFIG) as broker:
        broker.clock.freeze()
        walk = StateWalk(broker)
        walk.walk(steps)
        with broker.fork() as other:
            assert other.bootstrap_servers != broker.bootstrap_servers
            twin = StateWalk(other)
            mine, theirs = walk.look(), twin.look()
            for kind in ("metadata", "cluster"):  # they name the addresses
                del mine[kind], theirs[kind]
            assert theirs == mine
            broker.produce("a", "here")
            other.produce("a", "there")
            other.clock.advance(hours=1)
            assert other.clock.now_ms() - broker.clock.now_ms() == 3_600_000
            assert (_values(broker)[-1], _values(other)[-1]) == (b"here", b"there")
            twin.reconnect()
        walk.reconnect()
        broker.produce("a", "still here")
        assert not broker.bugs
        assert not other.bugs


def _end(broker: KafkaBroker, *, committed: bool) -> None:
    found = broker.transactions["tx"]
    host, port = broker.bootstrap_servers.split(":")
    with WireClient(host, int(port)) as client:
        assert client.request(EndTxnRequest("tx", found.producer_id, found.producer_epoch, committed)).error_code == 0


def test_a_transaction_is_committed_in_one_and_aborted_in_the_other() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.produce("a", "maybe", transactional_id="tx", transaction="open")
        with broker.fork() as other:
            _end(broker, committed=True)
            _end(other, committed=False)
            assert _values(broker, "read_committed") == [b"maybe"]
            assert _values(other, "read_committed") == []
            assert other.transactions["tx"].state == "CompleteAbort"


def test_timers_run_out_on_the_clock_of_each() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.clock.freeze()
        broker.produce("a", "maybe", transactional_id="tx", transaction="open")
        with broker.fork() as other:
            assert other.clock.frozen
            other.clock.advance(hours=1)
            assert other.transactions["tx"].state == "CompleteAbort"
            assert broker.transactions["tx"].state == "Ongoing"


def test_a_fork_can_be_forked_and_outlives_its_parent() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.produce("a", "1")
        child = broker.fork()
        child.produce("a", "2")
        grandchild = child.fork()
    child.close()
    with grandchild:
        grandchild.produce("a", "3")
        assert _values(grandchild) == [b"1", b"2", b"3"]


def test_a_broker_on_disk_forks_into_memory(tmp_path: Path) -> None:
    with KafkaBroker(topics=["a"], data_dir=tmp_path / "one") as broker:
        broker.produce("a", "1")
        broker.group("g").set_offsets({("a", 0): 1})
        with broker.fork() as other:
            other.produce("a", "2")
            assert _values(other) == [b"1", b"2"]
            assert other.groups["g"].offsets["a", 0].offset == 1
        assert _values(broker) == [b"1"]


def test_a_fork_is_kept_in_a_directory(tmp_path: Path) -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.produce("a", "1")
        broker.group("g").set_offsets({("a", 0): 1})
        with broker.fork(data_dir=tmp_path / "fork") as other:
            other.produce("a", "2")
            assert _values(other) == [b"1", b"2"]
    with KafkaBroker(data_dir=tmp_path / "fork") as again:
        assert _values(again) == [b"1", b"2"]
        assert again.groups["g"].offsets["a", 0].offset == 1


def test_given_ports_are_not_taken_twice() -> None:
    with KafkaBroker(config={"listeners": "PLAINTEXT://127.0.0.1:0"}) as probe:
        port = probe.bootstrap_servers.split(":")[1]
    listeners = {"listeners": f"PLAINTEXT://127.0.0.1:{port}"}
    with KafkaBroker(topics=["a"], config=listeners) as broker, broker.fork() as other:
        assert other.bootstrap_servers != broker.bootstrap_servers
        other.produce("a", "x")


@pytest.mark.trio
async def test_in_a_trio_run_of_the_caller() -> None:
    async with open_broker(topics=["a"]) as broker:
        await broker.produce("a", "1")
        async with broker.fork() as other:
            await other.produce("a", "2")
            assert _values(other) == [b"1", b"2"]
        assert _values(broker) == [b"1"]


def test_the_nodes_of_a_fork_have_the_configs_of_their_own(tmp_path: Path) -> None:
    own = {
        number: {
            "num.partitions": number + 3,
            "log.dirs": f"{tmp_path}/{number}",
            "listeners": "PLAINTEXT://127.0.0.1:0",
        }
        for number in (1, 2)
    }
    with KafkaBroker(nodes=2, node_config=own) as broker, broker.fork() as other:
        assert isinstance(other, KafkaBroker)
        assert [other.cluster.config.get_int("num.partitions", number) for number in (1, 2)] == [4, 5]
        assert other.cluster.directory is None
        assert other.bootstrap_servers != broker.bootstrap_servers
