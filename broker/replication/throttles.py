"""Replication throttles (KIP-73): how many bytes of throttled replicas a node sends or takes in a second.

A leader's throttle holds followers that are out of sync, a follower's throttle one that was behind when it looked
last. Both count what goes through without being held, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf
from typing import TYPE_CHECKING, NamedTuple

from odradek.protocol.record_batch import iter_batches

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.replicas import Replica, ReplicaSet, Throttle

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
_UNLIMITED = (1 << 63) - 1
_LOOK_BYTES = 256 * 1024
_SHORTEST_PAUSE_MS = 10


class Line:
    """The throttled traffic of one node, in one direction.

    It continues when the time that has passed pays for the bytes that it let through. Time is saved up only while a
    replica waits: then a late look, as after a jump of the clock, lets through what earlier looks would have.
    """

    def __init__(self) -> None:
        self._owed = 0.0  # bytes; below 0: what may be sent at once
        self._at_ms = 0
        self._rate = 0
        self._waiting: set[Replica] = set()
        self._unseen: set[Replica] = set()

    def pass_time(self, who: Replica, rate: int, now_ms: int) -> None:
        """`who` comes to it now; from now on it lets through `rate` bytes per second."""
        self._owed -= self._rate * max(0, now_ms - self._at_ms) / 1000
        if not self._waiting:
            self._owed = max(0.0, self._owed)
        self._at_ms, self._rate = now_ms, rate
        self._unseen.discard(who)

    @property
    def is_free(self) -> bool:
        """Whether a batch may go through."""
        return self._owed < 1  # less than a byte is rounding

    @property
    def free_ms(self) -> float:
        """The time when it is free again; infinite at a rate of 0."""
        if self.is_free:
            return self._at_ms
        return self._at_ms + ceil(self._owed * 1000 / self._rate) if self._rate else inf

    def charge(self, size_bytes: int) -> None:
        """So many bytes go through."""
        self._owed += size_bytes

    def leave(self, who: Replica, *, waits: bool) -> None:
        """`who` has what it may have now, and waits for more or not."""
        if waits:
            self._waiting.add(who)
        else:
            self._waiting.discard(who)

    def begin_look(self) -> None:
        """All replicas are looked at."""
        self._unseen = set(self._waiting)

    def end_look(self) -> None:
        """They were: who did not come waits no more."""
        self._waiting -= self._unseen
        self._unseen.clear()


class _Passage(NamedTuple):
    line: Line
    holds: bool


class Throttles:
    """The throttles of all nodes.

    Owner: the replicator. `next_look_ms`: when one with waiting replicas is free; None: never.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._lines: dict[tuple[str, int], Line] = {}
        self.next_look_ms: int | None = None

    def of(self, partition: Partition) -> Throttle | None:
        """The limits of a partition's replicas; None if it is not throttled."""
        config = partition.topic.config
        if not (LEADER_REPLICAS in config.overrides or FOLLOWER_REPLICAS in config.overrides):
            return None
        leaders, followers = _named(config.get(LEADER_REPLICAS)), _named(config.get(FOLLOWER_REPLICAS))

        def limit(replicas: ReplicaSet, replica: Replica, end: int, now_ms: int) -> int:
            passages: list[_Passage] = []
            if _names(leaders, partition.index, partition.leader_id):
                holds = replica.node_id not in partition.isr
                passages += self._passage(LEADER_RATE, partition.leader_id, replica, holds, now_ms)
            if _names(followers, partition.index, replica.node_id):
                holds = replicas.was_behind(replica)
                passages += self._passage(FOLLOWER_RATE, replica.node_id, replica, holds, now_ms)
            return self._through(passages, replica, end, now_ms) if passages else end

        return limit

    def _passage(self, rate_config: str, node_id: int, who: Replica, holds: bool, now_ms: int) -> Iterator[_Passage]:
        rate = self._config.get_int(rate_config, node_id)
        if rate < _UNLIMITED:
            line = self._lines.setdefault((rate_config, node_id), Line())
            line.pass_time(who, rate, now_ms)
            yield _Passage(line, holds)

    def _through(self, passages: list[_Passage], replica: Replica, end: int, now_ms: int) -> int:
        """Let batch after batch through while all lines that hold the replica are free."""
        holding = [passage.line for passage in passages if passage.holds]
        at = max(replica.end, replica.log.log_start_offset)
        waits = False
        while at < end and not waits:
            read = replica.log.read(at, max_bytes=_LOOK_BYTES, up_to_offset=end)
            if not read.size_bytes:
                at = end
            for batch in iter_batches(read.parts):
                waits = not all(line.is_free for line in holding)
                if waits:
                    break
                for passage in passages:
                    passage.line.charge(batch.size_bytes)
                at = batch.next_offset
        for line in holding:
            line.leave(replica, waits=waits)
        if waits:
            self._look_at(max(line.free_ms for line in holding), now_ms)
        return at

    def _look_at(self, at_ms: float, now_ms: int) -> None:
        if at_ms < inf:
            soonest = max(int(at_ms), now_ms + _SHORTEST_PAUSE_MS)
            self.next_look_ms = soonest if self.next_look_ms is None else min(self.next_look_ms, soonest)

    def take_next_look_ms(self) -> int | None:
        """`next_look_ms`, which is None afterwards."""
        taken, self.next_look_ms = self.next_look_ms, None
        return taken

    def begin_look(self) -> None:
        """All replicas that are apart are looked at."""
        for line in self._lines.values():
            line.begin_look()

    def end_look(self) -> None:
        """They were."""
        for line in self._lines.values():
            line.end_look()

    def clear(self) -> None:
        """Nothing has been sent yet."""
        self._lines.clear()


def _named(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _names(replicas: tuple[str, ...], index: int, node_id: int) -> bool:
    return "*" in replicas or f"{index}:{node_id}" in replicas
