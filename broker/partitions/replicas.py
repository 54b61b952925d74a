"""The replicas of one partition, while they differ: who has how much of which log, and what is committed.

A replica is a prefix of a log. As long as all replicas have everything a partition keeps none of this: there is one
log, and everything in it is committed. Source: KIP-101 (truncation by epochs), KIP-966 (below min.insync.replicas).
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from odradek.protocol.record_batch import iter_batches
from odradek.storage.partition_log import PartitionLog
from odradek.storage.producer_state import ProducerStates

# -- A slow link between a leader and one of its followers: what was sent arrives later.


class Slowness(NamedTuple):
    """The delay of records on a link, the most random delay in addition, and the most bytes in a second."""

    ms: int
    bytes_per_second: int | None = None
    jitter_ms: int = 0


class Sent(NamedTuple):
    """Up to which offset records were sent, and where the leader's log started then."""

    end: int
    start: int


class SlowLink:
    """Records on their way to a follower. `sent`: the last ones that were sent."""

    def __init__(self, slowness: Slowness, arrived: Sent, seed: str = "") -> None:
        """`arrived`: what the follower has. `seed`: draws the jitter, the same one in each run."""
        self.slowness = slowness
        self._draw = random.Random(seed) if slowness.jitter_ms else None
        self._under_way: deque[tuple[float, Sent]] = deque()
        self._busy_until_ms = 0.0
        self._arrived = self.sent = arrived

    def begin_anew(self, arrived: Sent) -> None:
        """The follower has so much of another history; what was on its way is lost."""
        self._under_way.clear()
        self._arrived = self.sent = arrived

    def send(self, what: Sent, size_bytes: int, now_ms: int) -> None:
        """Send the records between `sent` and this, which have that many bytes."""
        rate = self.slowness.bytes_per_second
        self._busy_until_ms = max(self._busy_until_ms, now_ms) + (0 if rate is None else size_bytes * 1000 / rate)
        due_ms = self._busy_until_ms + self.slowness.ms
        if self._draw is not None:
            due_ms += self._draw.uniform(0, self.slowness.jitter_ms)
        if self._under_way:
            due_ms = max(due_ms, self._under_way[-1][0])
        self._under_way.append((due_ms, what))
        self.sent = what

    def arrived(self, now_ms: int) -> Sent:
        """The last of what has arrived."""
        while self._under_way and self._under_way[0][0] <= now_ms:
            self._arrived = self._under_way.popleft()[1]
        return self._arrived

    @property
    def next_ms(self) -> float | None:
        """The time when the next records arrive."""
        return self._under_way[0][0] if self._under_way else None


# -- The replicas.


NEVER = -(1 << 62)
"""A time long ago, in milliseconds."""


_READ_BYTES = 8 * 1024 * 1024


class Lag(NamedTuple):
    """How far a replica is kept behind its leader, at least: in records, bytes or milliseconds. With none of them it
    gets nothing.
    """

    records: int | None = None
    size_bytes: int | None = None
    ms: int | None = None

    @property
    def stops(self) -> bool:
        """Whether nothing is copied."""
        return self == NOTHING


NOTHING = Lag()
"""Nothing is copied."""


class Replica:
    """One node's copy: the first `end` offsets of `log`, of which it knows those below `high_watermark` committed.

    `alive`: its node is up, and its disk works; `lost`: the disk does not. `lag`: what a test keeps from it, None for
    nothing. `link`: the link to its leader, while that is slow. `follows`: whether it has been cut to its leader's
    history in the leader's epoch. `caught_up_ms`: when it last had all that its leader had. `told`: the end that
    somebody else has told the leader in its name since it fetched last, None for nothing. `start`: where its leader
    knows its log to start, -1 while it does not. `producers`: what is known of them in a copy that is behind (see
    `CopyProducers`).
    """

    def __init__(self, node_id: int, log: PartitionLog, now_ms: int) -> None:
        self.node_id = node_id
        self.log = log
        self.end = log.log_end_offset
        self.start = log.log_start_offset
        self.high_watermark = log.high_watermark
        self.alive = True
        self.lost = False
        self.lag: Lag | None = None
        self.link: SlowLink | None = None
        self.follows = True
        self.caught_up_ms = now_ms
        self.told: int | None = None
        self.producers: CopyProducers | None = None

    @property
    def known_end(self) -> int:
        """The replica's end as the leader knows it: 0 before the replica has fetched in its epoch."""
        if self.told is not None:
            return self.told
        return self.end if self.follows else 0

    @property
    def size_bytes(self) -> int:
        """Bytes of the copy."""
        return bytes_between(self.log, self.log.log_start_offset, self.end)

    def __repr__(self) -> str:
        state = "" if self.alive else ", down"
        return f"Replica({self.node_id}, end {self.end}, high watermark {self.high_watermark}{state})"


class Committed(NamedTuple):
    """The conditions of a commit: the replicas in sync, how many are required, and the time-out of a slow one."""

    isr: Sequence[int]
    min_isr: int
    max_lag_ms: int


Throttle: TypeAlias = "Callable[[ReplicaSet, Replica, int, int], int]"
"""Says up to where a replica may have its leader's log: of (replicas, replica, wanted end, time in ms)."""


class ReplicaSet:
    """The replicas of a partition by node. Owner: the partition, which made it because replicas may differ.

    Invariants: a replica that follows is a prefix of its leader's log; the high watermark is at or below the end of
    each replica in sync.
    """

    def __init__(self, leader_id: int, log: PartitionLog, nodes: Iterable[int], now_ms: int) -> None:
        self.leader_id = leader_id
        self.by_node = {node: Replica(node, log, now_ms) for node in nodes}
        self.left_behind: list[PartitionLog] = []
        """Logs that no replica is a prefix of any more."""
        self._appends: deque[tuple[int, int]] = deque()
        self._before_append = log.log_end_offset
        self._newcomers: list[Replica] = []
        self._starts_moved = False
        log.hold_high_watermark(log.high_watermark)

    @property
    def leader(self) -> Replica | None:
        """The leader's copy, which is its whole log; None without a leader."""
        return self.by_node.get(self.leader_id)

    # -- copying

    def appended(self, now_ms: int) -> None:
        """The leader's log has grown."""
        leader = self.by_node[self.leader_id]
        self._before_append, leader.end = leader.end, leader.log.log_end_offset
        leader.caught_up_ms = now_ms
        if any(replica.lag is not None and replica.lag.ms is not None for replica in self.by_node.values()):
            self._appends.append((now_ms, leader.end))

    def copy(self, now_ms: int, linked: Callable[[int, int], bool], throttle: Throttle | None = None) -> None:
        """Let every follower have what it may have now. `linked(a, b)`: whether two nodes reach each other.
        `throttle`: how far a throttled replica may go at most."""
        leader = self.leader
        if leader is None or not leader.alive:
            return
        for replica in self.by_node.values():
            if replica is not leader and replica.alive and linked(replica.node_id, leader.node_id):
                self._fetch(replica, leader, now_ms, throttle)

    def was_behind(self, replica: Replica) -> bool:
        """Whether a replica lacks more than the leader's last append."""
        return replica.end < self._before_append

    def _fetch(self, replica: Replica, leader: Replica, now_ms: int, throttle: Throttle | None) -> None:
        if replica.lag is not None and replica.lag.stops:
            return
        if not replica.follows:
            replica.end = common_end(replica.log, replica.end, leader.log)
            replica.high_watermark = min(replica.high_watermark, replica.end)
            before, replica.log, replica.follows = replica.log, leader.log, True
            self._leave([before])
            if replica.link is not None:
                replica.link.begin_anew(Sent(replica.end, replica.start))
        end = self._limit(replica, leader, now_ms)
        start = leader.log.log_start_offset
        if replica.link is not None:
            over = self._over(replica.link, leader, now_ms)
            end, start = min(end, over.end), over.start
        if throttle is not None:
            end = throttle(self, replica, end, now_ms)
        if start > replica.start:
            replica.start, self._starts_moved = start, True
        replica.end = max(replica.end, end, leader.log.log_start_offset)
        replica.told = None
        if replica.end >= leader.end:
            replica.caught_up_ms = now_ms

    def _over(self, link: SlowLink, leader: Replica, now_ms: int) -> Sent:
        """Up to where the leader's records have come over a slow link, and where it said that its log starts."""
        new = Sent(max(link.sent.end, leader.end), leader.log.log_start_offset)
        if link.sent != new:
            link.send(new, bytes_between(leader.log, link.sent.end, leader.end), now_ms)
        return link.arrived(now_ms)

    def join(self, slowness: Callable[[int, int], Slowness | None]) -> None:
        """The links to the leader are so slow now."""
        for replica in self.by_node.values():
            is_leader = replica.node_id == self.leader_id
            new = None if is_leader else slowness(replica.node_id, self.leader_id)
            if new != (None if replica.link is None else replica.link.slowness):
                arrived, seed = Sent(replica.end, replica.start), f"{replica.log.name} to {replica.node_id}"
                replica.link = None if new is None else SlowLink(new, arrived, seed)

    def next_arrival_ms(self, now_ms: int) -> float | None:
        """The time when the next records arrive over a slow link.

        Records that arrive at a follower that is cut off or down wait for the verb that changes that.
        """
        links = [replica.link for replica in self.by_node.values() if replica.link is not None]
        times = [link.next_ms for link in links if link.next_ms is not None]
        return min((time for time in times if time > now_ms), default=None)

    def _limit(self, replica: Replica, leader: Replica, now_ms: int) -> int:
        """Up to where the replica may have the leader's log: the end of a batch, or its own end."""
        lag = replica.lag
        if lag is None:
            return leader.end
        if lag.ms is not None:
            return next((end for at, end in reversed(self._appends) if at <= now_ms - lag.ms), replica.end)
        end = replica.end
        ahead = 0 if lag.size_bytes is None else bytes_between(leader.log, end, leader.end)
        read = leader.log.read(end, max_bytes=_READ_BYTES, up_to_offset=leader.end)
        while read.size_bytes:
            for batch in iter_batches(read.parts):
                ahead -= batch.size_bytes
                if lag.records is not None and batch.next_offset > leader.end - lag.records:
                    return end
                if lag.size_bytes is not None and ahead < lag.size_bytes:
                    return end
                end = batch.next_offset
            read = leader.log.read(end, max_bytes=_READ_BYTES, up_to_offset=leader.end)
        return end

    # -- committing

    def commit(self, rule: Committed, now_ms: int) -> bool:
        """Advance the high watermark as far as possible; returns whether it moved. Followers learn it at once."""
        leader = self.leader
        if leader is None:
            return False
        moved = False
        if len(rule.isr) >= rule.min_isr:
            waited_for = [
                replica.known_end for replica in self.by_node.values() if self._is_waited_for(replica, rule, now_ms)
            ]
            moved = leader.log.advance_high_watermark(min([leader.end, *waited_for]))
        leader.high_watermark = leader.log.high_watermark
        for replica in self.by_node.values():
            if replica.log is leader.log and replica.alive and replica.follows and replica.lag is not NOTHING:
                replica.high_watermark = min(leader.high_watermark, replica.end)
        return moved

    def low_watermark(self, is_alive: Callable[[int], bool]) -> int:
        """The lowest log start of all replicas whose node is alive, as the leader knows them; -1 while it does not know
        one since its election. DeleteRecords waits for it (KIP-107).
        """
        return min(
            replica.log.log_start_offset if replica.node_id == self.leader_id else replica.start
            for replica in self.by_node.values()
            if replica.node_id == self.leader_id or is_alive(replica.node_id)
        )

    def take_moved_starts(self) -> bool:
        """Whether the start of a follower's log has moved since the last call."""
        moved, self._starts_moved = self._starts_moved, False
        return moved

    def _is_waited_for(self, replica: Replica, rule: Committed, now_ms: int) -> bool:
        if replica.node_id in rule.isr:
            return True
        known = replica.follows or replica.told is not None
        return replica.alive and known and now_ms - replica.caught_up_ms <= rule.max_lag_ms

    def lagging(self, rule: Committed, now_ms: int) -> list[int]:
        """The nodes that fall out of the replicas in sync: behind, and for too long."""
        leader = self.leader
        if leader is None:
            return []
        return [
            node
            for node in rule.isr
            if node != self.leader_id
            and self.by_node[node].known_end < leader.end
            and now_ms - self.by_node[node].caught_up_ms > rule.max_lag_ms
        ]

    def returning(self, rule: Committed, epoch_start: int, now_ms: int) -> list[int]:
        """The nodes that may join the replicas in sync: they follow, have what is committed, and the leader's epoch.

        One that would fall out again at once is left out.
        """
        leader = self.leader
        if leader is None:
            return []
        enough = max(leader.log.high_watermark, epoch_start)
        return [
            replica.node_id
            for replica in self.by_node.values()
            if replica.node_id not in rule.isr
            and replica.alive
            and (replica.follows or replica.told is not None)
            and replica.known_end >= enough
            and (replica.known_end >= leader.end or now_ms - replica.caught_up_ms <= rule.max_lag_ms)
        ]

    def fetched_as(self, node_id: int, offset: int, now_ms: int) -> None:
        """A client has fetched from the leader in the name of a follower: the leader takes that for its end."""
        replica, leader = self.by_node[node_id], self.leader
        replica.told = offset
        if leader is not None and offset >= leader.end:
            replica.caught_up_ms = max(replica.caught_up_ms, now_ms)

    # -- leaders

    def elect(
        self,
        node_id: int,
        epoch: int,
        fork: Callable[[PartitionLog, int], PartitionLog],
        isr: Sequence[int],
        now_ms: int,
    ) -> PartitionLog:
        """A replica leads in a new epoch, with these replicas in sync; returns the log that it goes on with.

        `fork(log, end)` makes a log of its own from a prefix. It is asked for only where the replica lacks something
        of the log that it is a prefix of: the others keep that log.
        """
        before = self.logs()
        chosen = self.by_node[node_id]
        if chosen.end < chosen.log.log_end_offset:
            chosen.log = fork(chosen.log, chosen.end)
        self.leader_id = node_id
        self._appends.clear()
        log = chosen.log
        self._before_append = log.log_end_offset
        log.hold_high_watermark(min(chosen.high_watermark, chosen.end))
        log.begin_epoch(epoch)
        chosen.follows = True
        for replica in self.by_node.values():
            replica.told = None
            replica.caught_up_ms = now_ms if replica.node_id in isr else NEVER
            if replica is not chosen:
                replica.follows = False
                replica.start = -1
        self._leave(before)
        return log

    def set_nodes(self, nodes: Sequence[int], log: PartitionLog) -> None:
        """Change the nodes of the replicas. A new replica has nothing yet; a removed one is dropped."""
        before = [log, *self.logs()]
        for node in [node for node in self.by_node if node not in nodes]:
            del self.by_node[node]
        for node in nodes:
            if node not in self.by_node:
                replica = self.by_node[node] = Replica(node, log, NEVER)
                replica.end = replica.high_watermark = log.log_start_offset
                replica.start = -1
                replica.follows = False
                self._newcomers.append(replica)
        self._leave(before)

    def take_newcomers(self) -> list[Replica]:
        """The replicas that have come since the last call."""
        if not self._newcomers:
            return self._newcomers
        newcomers, self._newcomers = self._newcomers, []
        return newcomers

    def _leave(self, before: Iterable[PartitionLog]) -> None:
        """Note those of these logs that no replica has any more."""
        kept = self.logs()
        self.left_behind += [log for log in before if log not in kept and log not in self.left_behind]

    def logs(self) -> list[PartitionLog]:
        """The logs that replicas are prefixes of, each once."""
        return list({id(replica.log): replica.log for replica in self.by_node.values()}.values())

    @property
    def in_step(self) -> bool:
        """Whether all replicas have everything and nothing is kept from any, so that the partition can drop the set."""
        leader = self.leader
        return leader is not None and all(
            replica.alive
            and replica.lag is None
            and replica.link is None
            and replica.follows
            and replica.log is leader.log
            and replica.end == leader.end
            for replica in self.by_node.values()
        )


def common_end(log: PartitionLog, end: int, leader: PartitionLog) -> int:
    """The offset at which the prefix of `log` up to `end` diverges from the leader's history, by leader epochs."""
    if log is leader:
        return min(end, leader.log_end_offset)
    known = [entry for entry in log.leader_epochs.entries() if entry[1] < end]
    while known:
        epoch, start = known[-1]
        found, leader_end = leader.end_offset_for_epoch(epoch)
        if found == epoch:
            return min(end, leader_end)
        known.pop()
        end = min(end, start)
    return min(end, leader.log_start_offset)


def bytes_between(log: PartitionLog, start: int, end: int) -> int:
    """The size of the batches of a range in bytes."""
    size = 0
    while start < end:
        read = log.read(start, max_bytes=_READ_BYTES, up_to_offset=end)
        if not read.size_bytes:
            break
        size += read.size_bytes
        for batch in iter_batches(read.parts):
            start = batch.next_offset
    return size


# -- The producers and transactions that a follower knows while it lacks a part of its leader's log.


class CopyProducers:
    """The producers of the first offsets of a log, read as far as needed. Owner: the replica."""

    def __init__(self, log: PartitionLog) -> None:
        self.log = log
        self.end = log.log_start_offset
        self.states = ProducerStates(log.name)

    def read_to(self, end: int) -> None:
        """Go on reading, up to a batch that begins at `end`."""
        for segment in self.log.segments:
            if segment.next_offset <= self.end:
                continue
            for _, batch in segment.iter_batches():
                if batch.base_offset >= end:
                    return
                if batch.base_offset >= self.end:
                    self.states.replay(batch)
                    self.end = batch.next_offset


def producers_of(copy: Replica) -> ProducerStates:
    """The producers of the records that a replica has."""
    log = copy.log
    if copy.end >= log.log_end_offset:
        return log.producers
    known = copy.producers
    if known is None or known.log is not log or known.end > copy.end:
        known = copy.producers = CopyProducers(log)
    known.read_to(copy.end)
    return known.states


def stable_offset(copy: Replica) -> int:
    """The last stable offset of a replica: its first transaction that is open there, or its high watermark."""
    high_watermark, log = copy.high_watermark, copy.log
    if copy.end >= log.log_end_offset and high_watermark == log.high_watermark:
        return log.last_stable_offset
    first = producers_of(copy).first_unstable_offset(high_watermark)
    return high_watermark if first is None else min(max(first, log.log_start_offset), high_watermark)
