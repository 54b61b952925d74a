"""Holds the logs at the end of a run against what clients were told. The logs are read as they lie, by no client."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator

import trio

from odradek.broker.partitions.partition import Partition
from odradek.protocol.control import committed_batches
from odradek.protocol.record_batch import RecordBatch
from odradek.types import TrioBroker
from tests.chaos.history import End, History, Place
from tests.chaos.replica_logs import batches_on

_SETTLE_S = 10.0


def partition_at(broker: TrioBroker, place: Place) -> Partition:
    return broker.cluster.topics.by_name(place[0]).partitions[place[1]]


def leader_batches(broker: TrioBroker, place: Place) -> list[RecordBatch]:
    """Everything in the leader's log."""
    partition = partition_at(broker, place)
    return batches_on(partition, partition.leader_id)


def read(broker: TrioBroker, place: Place) -> Iterator[tuple[int, bytes]]:
    """Offset and value of what a read_committed reader finds, of the transactions that are over."""
    log = partition_at(broker, place).log
    stable = log.last_stable_offset
    aborted = log.aborted_transactions(0, stable)
    for batch in committed_batches(
        [each for each in leader_batches(broker, place) if each.last_offset < stable], aborted
    ):
        if not batch.is_control:
            for record in batch.records():
                yield record.offset, bytes(record.value or b"")


def disagreeing(broker: TrioBroker) -> Iterator[str]:
    """Replicas that differ from their leader below what they know to be committed; at no time is there one."""
    for topic in broker.cluster.topics.all():
        for partition in topic.partitions:
            replicas = partition.replica_set
            leader = None if replicas is None else replicas.leader
            if replicas is None or leader is None:
                continue
            for replica in replicas.by_node.values():
                if replica.log is leader.log:
                    continue
                theirs, own = (
                    [(each.base_offset, each.crc) for each in batches_on(partition, node) if each.last_offset < limit]
                    for node, limit in (
                        (leader.node_id, replica.high_watermark),
                        (replica.node_id, replica.high_watermark),
                    )
                )
                if theirs != own:
                    yield f"{topic.name}-{partition.index}: {replica} differs from {leader} below its high watermark"


async def settle(broker: TrioBroker) -> None:
    """Time for replicas to come back to sync."""
    await trio.sleep(_SETTLE_S)


def check(broker: TrioBroker, history: History) -> list[str]:
    """What is wrong, as sentences."""
    places = {*history.acked, *history.seen, *(place for each in history.transactions for place in each.values)}
    found = {place: list(read(broker, place)) for place in sorted(places)}
    return [
        *_replicas(broker),
        *_acknowledged(history, found),
        *_order(history, found),
        *_once(found),
        *_transactions(history, found),
        *_readers(history, found),
        *_copies(found),
    ]


def lost(broker: TrioBroker, history: History) -> list[str]:
    """What is acknowledged and lost: of a run that broke off, too."""
    return [*_acknowledged(history, {place: list(read(broker, place)) for place in history.acked})]


def _replicas(broker: TrioBroker) -> Iterator[str]:
    """Healed, every replica has everything and is in sync, and nothing is left open."""
    for topic in broker.cluster.topics.all():
        for partition in topic.partitions:
            name = f"{topic.name}-{partition.index}"
            if sorted(partition.isr) != sorted(partition.replicas):
                yield f"{name}: in sync {partition.isr} of {partition.replicas}"
            if partition.replica_set is not None:
                yield f"{name}: its replicas still differ: {partition.replica_set.by_node}"
            if partition.opened and partition.log.last_stable_offset != partition.log.high_watermark:
                yield f"{name}: a transaction hangs at {partition.log.last_stable_offset}"


def _acknowledged(history: History, found: dict[Place, list[tuple[int, bytes]]]) -> Iterator[str]:
    for place, acked in history.acked.items():
        there = {value for _, value in found[place]}
        lost = [value for value in acked if value not in there]
        if lost:
            yield f"{place}: acknowledged and lost: {lost[:5]} ({len(lost)})"


def _order(history: History, found: dict[Place, list[tuple[int, bytes]]]) -> Iterator[str]:
    for (name, place), sent in history.sent.items():
        turn = {value: number for number, value in enumerate(sent)}
        numbers = [turn[value] for _, value in found[place] if value in turn]
        if numbers != sorted(numbers):
            wrong = next(i for i in range(1, len(numbers)) if numbers[i] < numbers[i - 1])
            yield f"{place}: {name} is out of order: {sent[numbers[wrong]]!r} behind {sent[numbers[wrong - 1]]!r}"


def _once(found: dict[Place, list[tuple[int, bytes]]]) -> Iterator[str]:
    for place, records in found.items():
        double = [value for value, count in Counter(value for _, value in records).items() if count > 1]
        if double:
            yield f"{place}: there twice: {double[:5]} ({len(double)})"


def _transactions(history: History, found: dict[Place, list[tuple[int, bytes]]]) -> Iterator[str]:
    there = {place: {value for _, value in records} for place, records in found.items()}
    for transaction in history.transactions:
        written = [(place, value) for place, values in transaction.values.items() for value in values]
        visible = [value in there[place] for place, value in written]
        if transaction.values.keys() == {("out", 0)}:
            continue  # the copiers write the same values again after an abort: see `_copies`
        if transaction.end is End.COMMITTED and not all(visible):
            yield f"committed and lost: {[each for each, seen in zip(written, visible, strict=True) if not seen]}"
        elif transaction.end is End.ABORTED and any(visible):
            yield f"aborted and visible: {[each for each, seen in zip(written, visible, strict=True) if seen]}"
        elif any(visible) and not all(visible):
            yield f"half of a transaction: {list(zip(written, visible, strict=True))}"


def _readers(history: History, found: dict[Place, list[tuple[int, bytes]]]) -> Iterator[str]:
    for place, seen in history.seen.items():
        there = dict(found[place])
        gone = [(offset, value) for offset, value in sorted(seen.items()) if there.get(offset) != value]
        if gone:
            yield f"{place}: read as committed, and not there: {gone[:5]} ({len(gone)})"
        last = max(seen, default=-1)
        skipped = [(offset, value) for offset, value in found[place] if offset <= last and offset not in seen]
        if skipped:
            yield f"{place}: left out by its readers: {skipped[:5]} ({len(skipped)})"


def _copies(found: dict[Place, list[tuple[int, bytes]]]) -> Iterator[str]:
    """Exactly once: what was read from the one topic is in the other, each once (see `_once`)."""
    originals = Counter(value for place, records in found.items() if place[0] == "in" for _, value in records)
    copies = Counter(value for _, value in found.get(("out", 0), []))
    if originals != copies:
        missing, more = originals - copies, copies - originals
        yield f"copies: {len(missing)} missing {list(missing)[:5]}, {len(more)} too many {list(more)[:5]}"


def fingerprint(broker: TrioBroker) -> int:
    """One number for what is in all logs; the same for the same run."""
    number = 0
    for topic in sorted(broker.cluster.topics.all(), key=lambda topic: topic.name):
        if not topic.name.startswith("__"):
            for partition in topic.partitions:
                for batch in leader_batches(broker, (topic.name, partition.index)):
                    for record in batch.records():
                        number = zlib.crc32(b"%d %s" % (record.offset, record.value or b""), number)
    return number
