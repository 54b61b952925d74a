"""Going back to a snapshot, in memory and on disk."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odradek import ErrorCode, Fault, KafkaBroker, PartitionInfo, ProducerRecord
from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import MAX_BATCH_RECORDS
from odradek.broker.facade.state.restore import restore, whole
from odradek.broker.facade.state.snapshot import Snapshot, take
from odradek.broker.partitions.partition import Partition
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from tests.fakes.durable import die, durable, opened
from tests.fakes.examples import examples
from tests.fakes.file_system import Crash, FaultyFileSystem
from tests.fakes.state_walk import CONFIG, StateWalk
from tests.fakes.wire_client import WireClient as RawClient

_ACQUIRE = 12
_STEPS = st.lists(st.tuples(st.integers(0, 22), st.integers(0, 11)), max_size=12)


def _without_acquiring(steps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Records that a member holds come back when its connection ends, or, after a restore, when their time is over."""
    return [step for step in steps if step[0] != _ACQUIRE]


@pytest.fixture(scope="module")
def walk() -> Iterator[StateWalk]:
    with KafkaBroker(topics={"a": 1, "b": 2}, config=CONFIG) as broker:
        broker.clock.freeze()
        walk = StateWalk(broker)
        yield walk
        walk.reconnect()
        assert not broker.bugs, broker.bugs[0]


@pytest.fixture(scope="module")
def beginning(walk: StateWalk) -> Snapshot:
    return walk.broker.snapshot()


def test_every_step_of_a_walk_can_be_seen(walk: StateWalk, beginning: Snapshot) -> None:
    """Else the property below says less than it seems to."""
    walk.broker.restore(beginning)
    walk.reconnect()
    need = {
        "leave_consumer_group": [walk.join_consumer_group],
        "leave_classic_group": [walk.join_classic_group],
        "acquire": [walk.join_share_group, walk.produce],
        "end_transaction": [walk.open_transaction],
        "hold_transaction": [walk.open_transaction],
        "delete_records": [walk.produce],
        "delete_group": [walk.commit],
    }
    for step in walk.steps:
        walk.broker.restore(beginning)
        walk.reconnect()
        for first in need.get(step.__name__, []):
            first(0)
        seen = walk.look()
        step(0)
        assert walk.look() != seen, step.__name__


@given(before=_STEPS, after=_STEPS, again=_STEPS)
@settings(max_examples=examples(50))
def test_a_restored_broker_is_what_it_was(
    walk: StateWalk,
    beginning: Snapshot,
    before: list[tuple[int, int]],
    after: list[tuple[int, int]],
    again: list[tuple[int, int]],
) -> None:
    walk.broker.restore(beginning)
    walk.reconnect()
    walk.walk(before)
    seen = walk.look()
    snapshot = walk.broker.snapshot()
    assert walk.look() == seen, "a snapshot changes nothing"
    for steps in (after, again):
        walk.walk(steps)
        walk.broker.restore(snapshot)
        walk.reconnect()
        assert walk.look() == seen
    assert not walk.broker.bugs, walk.broker.bugs[0]


@given(
    before=_STEPS.map(_without_acquiring),
    after=_STEPS,
    times=st.lists(st.tuples(st.just(22), st.integers(0, 3)), min_size=1, max_size=4),
)
@settings(max_examples=examples(40))
def test_the_same_timers_run_out_at_the_same_time(
    walk: StateWalk,
    beginning: Snapshot,
    before: list[tuple[int, int]],
    after: list[tuple[int, int]],
    times: list[tuple[int, int]],
) -> None:
    walk.broker.restore(beginning)
    walk.reconnect()
    walk.walk(before)
    snapshot = walk.broker.snapshot()
    walk.walk(times)
    seen = walk.look()
    del seen["in flight"]  # a connection that ends takes it away
    walk.walk(after)
    walk.broker.restore(snapshot)
    walk.reconnect()
    walk.walk(times)
    again = walk.look()
    del again["in flight"]
    assert again == seen


def test_records_of_a_share_group_are_held_as_long_as_before() -> None:
    with KafkaBroker(topics={"a": 1, "b": 2}, config=CONFIG) as broker:
        broker.clock.freeze()
        walk = StateWalk(broker)
        assert walk.steps[_ACQUIRE] == walk.acquire
        for step in (walk.produce, walk.join_share_group, walk.acquire):
            step(0)
        (held,) = broker.group("shared").share_partitions.values()
        assert held.held == {"sharer-0": 1}
        broker.clock.advance(10)
        snapshot = broker.snapshot()
        broker.clock.advance(12)
        broker.restore(snapshot)
        walk.reconnect()
        broker.clock.advance(19.9)
        (held,) = broker.group("shared").share_partitions.values()
        assert held.held == {"sharer-0": 1}
        broker.clock.advance(0.1)
        (free,) = broker.group("shared").share_partitions.values()
        assert (free.held, dict(free.records)) == ({}, {"available": 1})
        assert not broker.bugs


def test_a_snapshot_of_another_broker_is_refused() -> None:
    with KafkaBroker() as one, KafkaBroker() as other, pytest.raises(ValueError, match="of another broker"):
        other.restore(one.snapshot())


def test_an_open_transaction_can_end_in_two_ways() -> None:
    with KafkaBroker(topics=["t"]) as broker:
        broker.produce("t", "maybe", transactional_id="tx", transaction="open")
        snapshot = broker.snapshot()
        left = []
        for committed in (True, False, True):
            _end(broker, committed=committed)
            left.append([record.value for record in broker.records("t", isolation="read_committed")])
            broker.restore(snapshot)
            assert broker.transactions["tx"].state == "Ongoing"
            assert not list(broker.records("t", isolation="read_committed"))
        assert left == [[b"maybe"], [], [b"maybe"]]
        assert not broker.bugs


def _end(broker: KafkaBroker, *, committed: bool) -> None:
    found = broker.transactions["tx"]
    with RawClient.at(broker.bootstrap_servers) as client:
        answer = client.request(EndTxnRequest("tx", found.producer_id, found.producer_epoch, committed))
    assert answer.error_code == 0


def test_holds_are_as_they_were() -> None:
    with KafkaBroker(topics=["t"]) as broker:
        hold = broker.hold("tx", "PrepareCommit")
        snapshot = broker.snapshot()
        later = broker.hold("tx", "PrepareAbort")
        hold.release()
        broker.produce("t", "1", transactional_id="tx")
        assert broker.transactions["tx"].state == "CompleteCommit"
        broker.restore(snapshot)
        broker.produce("t", "2", transactional_id="tx", transaction="open")
        client = threading.Thread(target=_end, args=(broker,), kwargs={"committed": True})
        client.start()
        client.join()
        assert hold.reached
        assert not later.reached
        assert broker.transactions["tx"].state == "PrepareCommit"
        assert not list(broker.records("t", isolation="read_committed"))
        hold.release()
        assert [r.value for r in broker.records("t", isolation="read_committed")] == [b"2"]


def test_clients_that_were_further_see_another_leader_epoch() -> None:
    with KafkaBroker(topics={"t": 2}) as broker:
        broker.produce("t", "1", partition=0)
        snapshot = broker.snapshot()
        seen = []
        for records in (1, 0, 1):
            broker.produce_all("t", [ProducerRecord("2", partition=0)] * records)
            broker.restore(snapshot)
            seen.append([partition.leader_epoch for partition in broker.topics["t"].partitions])
        assert seen == [[1, 0], [1, 0], [2, 0]]


def test_producer_ids_are_not_given_twice() -> None:
    with KafkaBroker(topics=["t"]) as broker:
        broker.produce("t", "1", transactional_id="first")
        snapshot = broker.snapshot()
        broker.produce("t", "2", transactional_id="second")
        given = broker.transactions["second"].producer_id
        broker.restore(snapshot)
        assert list(broker.transactions) == ["first"]
        broker.produce("t", "2", transactional_id="third")
        assert broker.transactions["third"].producer_id > given


def test_an_idempotent_producer_that_was_further_goes_on_once() -> None:
    with KafkaBroker(topics=["t"]) as broker:
        host, _, port = broker.bootstrap_servers.partition(":")

        def write(sequence: int) -> int:
            batch = build_batch([Record(0, 0, None, b"x", ())], producer_id=7, producer_epoch=0, base_sequence=sequence)
            data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
            with RawClient(host, int(port)) as client:
                answer = client.request(ProduceRequest(None, -1, 1000, data), 9)
            return int(answer.responses[0].partition_responses[0].error_code)

        out_of_order = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert [write(0), write(1), write(5)] == [0, 0, out_of_order]
        snapshot = broker.snapshot()
        assert [write(2), write(3)] == [0, 0]
        for _ in range(2):
            broker.restore(snapshot)
            assert [write(4), write(5), write(9)] == [0, 0, out_of_order]


def test_the_clock_goes_back_and_stands_or_runs_as_it_did() -> None:
    with KafkaBroker() as broker:
        broker.clock.freeze()
        began = broker.clock.now_ms()
        snapshot = broker.snapshot()
        broker.clock.advance(days=3)
        broker.clock.resume()
        broker.restore(snapshot)
        assert (broker.clock.now_ms(), broker.clock.frozen) == (began, True)
        broker.clock.resume()
        running = broker.snapshot()
        broker.clock.advance(hours=1)
        broker.clock.freeze()
        broker.restore(running)
        assert not broker.clock.frozen
        assert broker.clock.now_ms() < began + 3_600_000


def test_retention_counts_from_the_time_that_was() -> None:
    """Rounds of maintenance are due again after the clock has gone back."""
    with KafkaBroker(topics={"t": {"config": {"retention.ms": 3_600_000, "segment.ms": 60_000}}}) as broker:
        broker.clock.freeze()
        broker.produce("t", "1")
        snapshot = broker.snapshot()
        broker.clock.advance(days=30)
        assert not list(broker.records("t"))
        broker.restore(snapshot)
        assert len(list(broker.records("t"))) == 1
        broker.clock.advance(hours=2)
        broker.clock.advance(hours=2)
        assert not list(broker.records("t"))


def test_nodes_and_replicas_are_as_they_were() -> None:
    spec = {"partitions": 1, "replication_factor": 3}
    with KafkaBroker(nodes=3, topics={"t": spec}, config={"replica.lag.time.max.ms": 3000}) as broker:
        broker.clock.freeze()
        slow = next(node for node in (1, 2, 3) if node != broker.topics["t"].partitions[0].leader)
        broker.produce("t", "1")
        paused = broker.topic("t").pause_replication(0, slow)
        broker.produce("t", "2")
        addresses = broker.bootstrap_servers
        snapshot = broker.snapshot()
        before = _without_epoch(broker)
        leader = broker.topics["t"].partitions[0].leader
        broker.kill_node(leader)
        broker.heal()
        broker.stop_node(slow)
        broker.produce("t", "3")
        for _ in range(2):
            broker.restore(snapshot)
            assert broker.bootstrap_servers == addresses
            assert _without_epoch(broker) == before
            broker.produce("t", "4")
            ends = broker.topics["t"].partitions[0].replica_ends
            assert (ends[slow], sorted(ends.values())) == (1, [1, 3, 3])
        paused.undo()
        assert broker.topics["t"].partitions[0].high_watermark == 3
        broker.kill_node(slow)
        down = broker.snapshot()
        broker.start_node(slow)
        broker.restore(down)
        assert len(broker.bootstrap_servers.split(",")) == 2
        broker.start_node(slow)
        assert broker.bootstrap_servers == addresses
        assert not broker.bugs, broker.bugs[0]


def test_a_node_that_was_frozen_later_goes_on() -> None:
    with KafkaBroker(nodes=3, topics={"t": {"partitions": 1, "replication_factor": 3}}) as broker:
        broker.clock.freeze()
        snapshot = broker.snapshot()
        broker.freeze_node(2)
        broker.clock.advance(hours=1)
        broker.restore(snapshot)
        assert not broker.cluster.frozen
        assert broker.topics["t"].partitions[0].isr == broker.topics["t"].partitions[0].replicas
        assert len(broker.bootstrap_servers.split(",")) == 3


def _without_epoch(broker: KafkaBroker) -> PartitionInfo:
    return replace(broker.topics["t"].partitions[0], leader_epoch=0)


def test_links_are_as_they_were_and_disks_work() -> None:
    topic = {"partitions": 1, "replication_factor": 3}
    with KafkaBroker(nodes=3, topics={"t": topic}) as broker:
        broker.clock.freeze()

        def partition() -> PartitionInfo:
            return broker.topics["t"].partitions[0]

        leader, follower = partition().leader, partition().replicas[1]
        plain = broker.snapshot()
        slowed = broker.slow(leader, follower, ms=100)
        broker.slow("app", leader, ms=100)
        bad = broker.snapshot()
        broker.fail_disk(leader, topic="t", partition=0)
        with pytest.raises(KafkaError, match="No space left"):
            broker.produce("t", "lost")
        deadline = time.monotonic() + 60
        while partition().leader == leader:
            assert time.monotonic() < deadline
        failed = broker.snapshot()
        broker.refuse_connections(follower)
        broker.restore(plain)
        assert is_listening(broker, follower)
        broker.produce("t", "at once")
        assert partition().high_watermark == 1
        assert not broker.cluster.server.links.client_links
        broker.restore(bad)
        broker.produce("t", "late")
        assert partition().high_watermark == 0
        assert [link.client for link in broker.cluster.server.links.client_links] == ["app"]
        broker.clock.advance(seconds=0.1)
        assert partition().high_watermark == 1
        broker.restore(failed)
        slowed.undo()
        assert set(partition().isr) == {1, 2, 3}
        assert partition().leader != leader
        broker.produce("t", "there")
        broker.topic("t").move_leader(0, leader)
        assert [record.value for record in broker.records("t")] == [b"there"]


def is_listening(broker: KafkaBroker, node: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", broker.cluster.nodes[node].port), timeout=30).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.fixture
def no_syncs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pulls the plug in a test."""
    monkeypatch.setattr("odradek.storage.file_system.os.fsync", lambda descriptor: None)


@pytest.mark.long
@pytest.mark.usefixtures("no_syncs")
def test_a_restored_broker_on_disk_is_what_it_was(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path / "data", topics={"a": 1, "b": 2}, config=CONFIG) as broker:
        broker.clock.freeze()
        walk = StateWalk(broker)
        beginning = broker.snapshot()

        @given(before=_STEPS, after=_STEPS, again=_STEPS)
        @settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow])
        def goes_back(
            before: list[tuple[int, int]], after: list[tuple[int, int]], again: list[tuple[int, int]]
        ) -> None:
            broker.restore(beginning)
            walk.reconnect()
            walk.walk(before)
            seen = walk.look()
            snapshot = broker.snapshot()
            assert walk.look() == seen, "a snapshot changes nothing"
            for steps in (after, again):
                walk.walk(steps)
                broker.restore(snapshot)
                walk.reconnect()
                assert walk.look() == seen
            assert not broker.bugs, broker.bugs[0]

        goes_back()
        broker.restore(beginning)
        walk.reconnect()


@pytest.mark.long
def test_a_start_finds_what_the_broker_went_back_to(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with KafkaBroker(data_dir=data, topics={"a": 2}) as broker:
        broker.produce_all("a", ["1", "2", "3"])
        broker.produce("a", "maybe", transactional_id="tx", transaction="open")
        broker.group("g").set_offsets({("a", 0): 1})
        snapshot = broker.snapshot()
        for number in range(3):
            broker.topic("a").delete()
            broker.create_topic("a", partitions=2)
            broker.produce("a", "other")
            broker.create_topic(f"b{number}")
            broker.group("g").set_offsets({(f"b{number}", 0): 0})
            broker.restore(snapshot)
            broker.produce("a", "behind")
        broker.restore(snapshot)
        before = sorted(record.value or b"" for record in broker.records("a"))
        assert before == [b"1", b"2", b"3", b"maybe"]
    with KafkaBroker(data_dir=data) as broker:
        assert sorted(record.value or b"" for record in broker.records("a")) == before
        assert list(broker.topics) == ["a"]
        assert broker.transactions["tx"].state == "Ongoing"
        assert broker.group("g").offsets["a", 0].offset == 1
        assert not broker.bugs


def test_the_files_of_a_snapshot_go_with_it(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path / "data", topics=["a"]) as broker:
        broker.produce("a", "1")
        one, other = broker.snapshot(), broker.snapshot()
        assert len(list((tmp_path / "data.odradek-snapshots").iterdir())) == 2
        del one
        broker.restore(other)
        assert len(list((tmp_path / "data.odradek-snapshots").iterdir())) == 1
        del other
        assert [path.name for path in tmp_path.iterdir()] == ["data"]
        broker.kept = broker.snapshot()  # type: ignore[attr-defined]
        assert len(list(tmp_path.iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_what_a_dead_process_kept_goes_with_the_next_start(tmp_path: Path) -> None:
    cluster = opened(tmp_path / "data")
    append(cluster.create_topic("a").partitions[0], b"1")
    snapshot = take(cluster)
    die(cluster)
    assert (tmp_path / "data.odradek-snapshots").exists()
    again = opened(tmp_path / "data")
    assert not (tmp_path / "data.odradek-snapshots").exists()
    again.close_logs()
    del snapshot


def append(partition: Partition, value: bytes) -> None:
    partition.append(build_batch([Record(0, 0, None, value)]), now_ms=0)


State = dict[str, list[bytes]]


def state(cluster: Cluster) -> State:
    """The records of each topic."""
    found: State = {}
    for topic in cluster.topics.all():
        values = found[topic.name] = []
        for partition in topic.partitions:
            log = partition.log
            position = log.log_start_offset
            while position < log.log_end_offset:
                for part in log.read(position, max_bytes=1 << 20, up_to_offset=log.log_end_offset).parts:
                    for batch in iter_batches(part):
                        values += (bytes(record.value or b"") for record in batch.records())
                        position = batch.next_offset
    return found


def _change(cluster: Cluster) -> None:
    """One topic gets more, one is made anew, one goes, one comes; one has lost its start."""
    append(cluster.topics.by_name("a").partitions[0], b"a2")
    cluster.delete_topic("b")
    append(cluster.create_topic("b", partitions=1).partitions[0], b"other b")
    cluster.delete_topic("c")
    append(cluster.create_topic("d").partitions[0], b"d1")
    append(cluster.topics.by_name("late").partitions[0], b"late")
    cluster.topics.by_name("start").partitions[0].delete_records(-1)


_BEFORE: State = {"a": [b"a1"], "b": [b"b1"], "c": [b"c1"], "late": [], "start": [b"s1"]}
_AFTER: State = {"a": [b"a1", b"a2"], "b": [b"other b"], "d": [b"d1"], "late": [b"late"], "start": []}


def _filled(where: Path | list[Path], fs: FaultyFileSystem, nodes: int) -> Cluster:
    cluster = durable(where, fs, nodes=nodes)
    cluster.open_directory()
    for name, values in _BEFORE.items():
        topic = cluster.create_topic(name, partitions=1, replication_factor=nodes)
        for value in values:
            append(topic.partitions[0], value)
    return cluster


def _one(path: Path) -> Path:
    return path


def _two(path: Path) -> list[Path]:
    return [path / "one", path / "two"]


class _Dying(FaultyFileSystem):
    """Behind the call to die in there are no others."""

    def _before(self, call: str, path: Path) -> bool:
        if self.stop_at is not None and self.calls > self.stop_at:
            raise Crash
        return super()._before(call, path)


@pytest.mark.long
@pytest.mark.parametrize(
    ("paths", "nodes", "batch", "stride"),
    [(_one, 1, 10_000, 2), (_one, 1, 3, 5), (_two, 1, 10_000, 7), (_one, 3, 10_000, 7)],
    ids=["plain", "in a transaction", "log.dirs", "nodes"],
)
def test_a_death_at_any_call_leaves_the_one_state_or_the_other(
    tmp_path: Path,
    paths: Callable[[Path], Path | list[Path]],
    nodes: int,
    batch: int,
    stride: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`batch`: how many records of the metadata log are one batch. `stride`: which calls are tried."""
    for module in ("broker.controller.machine", "broker.facade.state.restore"):
        monkeypatch.setattr(f"odradek.{module}.MAX_BATCH_RECORDS", batch)
    found: list[bool] = []
    over = False
    while not over:
        where = paths(tmp_path / str(len(found)))
        fs = _Dying()
        cluster = _filled(where, fs, nodes)
        snapshot = take(cluster)
        _change(cluster)
        fs.stop_at = fs.calls + len(found) * stride
        try:
            restore(cluster, snapshot)
            over = True
        except Crash:
            pass
        die(cluster)
        again = opened(where, nodes=nodes)
        left = state(again)
        assert left in (_BEFORE, _AFTER), (len(found), left)
        found.append(left == _BEFORE)
        again.close_logs()
    assert found == sorted(found), "once it has happened it stays so"
    assert (found[0], found[-1]) == (False, True)
    assert sum(found) * stride > 10


@pytest.mark.parametrize("call", ["link", "write", "sync_directory"])
def test_a_disk_that_refuses_leaves_the_broker_as_it_is(tmp_path: Path, call: str) -> None:
    fs = FaultyFileSystem()
    cluster = _filled(tmp_path, fs, 1)
    snapshot = take(cluster)
    _change(cluster)
    folders = {path.name for path in tmp_path.iterdir()}
    fs.refuse = lambda name, path: 28 if name == call and "delete" in str(path) else None
    with pytest.raises(StorageError, match="No space left"):
        restore(cluster, snapshot)
    fs.refuse = lambda name, path: None
    assert state(cluster) == _AFTER
    assert {path.name for path in tmp_path.iterdir()} == folders
    restore(cluster, snapshot)
    assert state(cluster) == _BEFORE
    cluster.close_logs()


def test_a_broken_log_has_a_snapshot_and_goes_back(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path / "data", topics=["a"]) as broker:
        broker.produce("a", "1")
        broker.fail_disk(topic="a", partition=0)
        snapshot = broker.snapshot()
        broker.heal()
        broker.produce("a", "2")
        broker.restore(snapshot)
        assert [record.value for record in broker.records("a")] == [b"1"]
        assert not broker.bugs


def test_many_records_are_one_transaction() -> None:
    few = [NoOpRecord()] * 3
    assert whole(few) == few
    many = whole([NoOpRecord()] * (MAX_BATCH_RECORDS + 1))
    assert [type(each).__name__ for each in (many[0], many[1], many[-1])] == [
        "BeginTransactionRecord",
        "NoOpRecord",
        "EndTransactionRecord",
    ]
    assert len(whole([])) == 1


def test_a_controller_whose_broker_is_down_is_restored() -> None:
    config = {
        "process.roles": "broker,controller",
        "controller.listener.names": "CONTROLLER",
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    }

    def state(broker: KafkaBroker) -> list[tuple[bool, bool]]:
        return [(node.up, node.controls) for node in broker.cluster.nodes.values()]

    with KafkaBroker(nodes=2, config=config) as broker:
        with broker.stop_node(1):
            whole = broker.snapshot()
        with broker.stop_node(1, broker_only=True):
            alone = broker.snapshot()
            assert broker.cluster.controller_id == 2
        for _ in range(2):
            broker.restore(whole)
            assert state(broker) == [(False, False), (True, True)]
            broker.restore(alone)
            assert state(broker) == [(False, True), (True, True)]
            broker.heal()
            assert state(broker) == [(True, True), (True, True)]


def _used(broker: KafkaBroker) -> None:
    walk = StateWalk(broker)
    walk.walk([(step, choice) for choice in range(3) for step in range(22)])
    walk.reconnect()


@pytest.mark.long("True")
@pytest.mark.parametrize("on_disk", [False, True])
def test_nothing_that_clients_have_left_is_there(tmp_path: Path, on_disk: bool) -> None:
    directory = tmp_path if on_disk else None
    topics = {"a": {"partitions": 1, "config": {"retention.ms": 9000}}, "b": 2}
    with KafkaBroker(topics=topics, config=CONFIG, data_dir=directory) as broker:
        walk = StateWalk(broker)
        new = walk.look()
        walk.reconnect()
        ids = {topic.topic_id for topic in broker.topics.values()}
        for _ in range(2):
            _used(broker)
            broker.clock.freeze()
            broker.reset()
            seen = walk.look()
            walk.reconnect()
            for kind in ("groups", "transactions", "listed", "acls", "quotas", "users", "records", "cluster"):
                assert seen[kind] == new[kind], kind
            assert list(broker.all_topics) == ["a", "b"]
            assert {name: topic.config for name, topic in broker.topics.items()} == {
                "a": {"retention.ms": "9000"},
                "b": {},
            }
            assert not ids & {topic.topic_id for topic in broker.topics.values()}
            assert not broker.clock.frozen
        broker.produce("b", "goes on", partition=1)
        assert not broker.bugs, broker.bugs[0]


def test_what_a_test_has_set_ends_and_data_may_stay() -> None:
    with KafkaBroker(nodes=3, topics={"a": {"partitions": 1, "replication_factor": 3}}) as broker:
        real = broker.clock.now_ms()
        addresses = broker.bootstrap_servers
        broker.set_faults(Fault("Produce", delay_ms=1))
        hold = broker.hold("tx", "PrepareCommit")
        broker.produce("a", "kept")
        broker.produce("a", "maybe", transactional_id="open", transaction="open")
        broker.kill_node(1)
        broker.freeze_node(2)
        broker.clock.advance(days=2)
        broker.clock.freeze()
        broker.reset(data=False)
        assert broker.cluster.dispatcher.faults is None
        assert broker.bootstrap_servers == addresses
        assert not broker.cluster.frozen
        assert abs(broker.clock.now_ms() - real) < 3_600_000
        assert not broker.clock.frozen
        assert broker.records("a")[0].value == b"kept"
        hold.release()
        assert not broker.bugs, broker.bugs[0]


def test_what_is_kept_runs_out_when_it_would_have() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.clock.freeze()
        broker.clock.advance(hours=5)
        broker.produce("a", "1", transactional_id="tx", transaction="open")
        broker.reset(data=False)
        broker.clock.freeze()
        timers = broker.cluster.transactions.running()[0].timers
        due = {key: at - broker.clock.now_ms() for key, at, _ in timers.entries()}
        assert 0 < due["abort"] <= 10_000


def test_a_load_that_is_held_goes_on() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.group("g").set_offsets({("a", 0): 0})
        hold = broker.hold_load("__consumer_offsets", now=True)
        broker.reset(data=False)
        assert broker.groups["g"].offsets["a", 0].offset == 0
        hold.undo()
        assert not broker.bugs
