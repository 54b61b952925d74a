"""Elections: the leader, ISR and eligible leader replicas of a partition after a change of its state (KIP-966)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from odradek.broker.metadata.image import NO_LEADER, Ids, PartitionRegistration
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord
from odradek.protocol.message import ZERO_UUID

NO_LEADER_CHANGE = -2
NO_RECOVERY_CHANGE = -1
_RECOVERED, _RECOVERING = 0, 1


class Election(Enum):
    """Which replica is looked for. All keep a leader that is good enough, except that PREFERRED tries the first."""

    ONLINE = auto()
    PREFERRED = auto()
    UNCLEAN = auto()


class Rules(NamedTuple):
    """The inputs of an election. `directories`: the log directory of each broker."""

    may_lead: Callable[[int], bool]
    elr_enabled: bool
    directories: Mapping[int, bytes] = {}


class PartitionChange:
    """The wanted state of one partition; `record` returns the record that leads there, as a controller decides.

    Set the other attributes, then ask for the record. `adding` and `removing`: what a reassignment still has to bring
    and to take away; it is completed by the record once enough replicas are in sync. `rejoin`: live replicas are in
    sync at once, as they are where all replicas share one log. `wanted`: who is to lead, whatever it lacks.
    `recovered`: the leader of an unclean election is at work. `crashed`: replicas that may have lost what they had.
    """

    def __init__(self, before: PartitionRegistration, rules: Rules, min_isr: int) -> None:
        self.before = before
        self.rules = rules
        self.min_isr = min_isr
        self.isr: Ids = before.isr
        self.replicas: Ids = before.replicas
        self.elr: Ids = before.elr
        self.adding: Ids = before.adding
        self.removing: Ids = before.removing
        self.election = Election.ONLINE
        self.rejoin = False
        self.recovered = False
        self.wanted: int | None = None
        self.crashed: frozenset[int] = frozenset()

    def record(self, topic_id: bytes, index: int) -> PartitionChangeRecord | None:
        """The PartitionChangeRecord; None if nothing changes."""
        before = self.before
        record = PartitionChangeRecord(index, topic_id)
        self._complete_reassignment()
        self._update_elr()
        leader, unclean = self._elect()
        if leader in self.elr:
            self.isr = (leader,)
        if unclean:
            self.isr = (leader,)
            if not before.recovering:
                record.leader_recovery_state = _RECOVERING
        elif self.recovered and before.recovering:
            record.leader_recovery_state = _RECOVERED
        if self.rejoin and leader >= 0:
            self.isr = self._live()
            if self._complete_reassignment():
                leader, _ = self._elect()
        self._settle_elr(unclean)
        lost_replica = not set(before.replicas) <= set(self.replicas)
        if leader != before.leader or lost_replica:
            record.leader = leader
        self._fill(record, leader)
        return None if _is_empty(record) else record

    def records(self, topic_id: bytes, index: int) -> list[PartitionChangeRecord]:
        """The same as a list; nothing if nothing changes."""
        record = self.record(topic_id, index)
        return [] if record is None else [record]

    # -- inside

    def _complete_reassignment(self) -> bool:
        """Let the replicas go that a reassignment takes away, if enough of those that stay are in sync."""
        if not self.adding and not self.removing:
            return False
        gone = frozenset(self.removing)
        isr, replicas = without(self.isr, gone), without(self.replicas, gone)
        if not isr or not replicas or not set(self.adding) <= set(isr):
            return False
        if len(self.adding) < len(self.removing) and not set(replicas) <= set(isr):
            return False
        self.isr, self.replicas = isr, replicas
        self.adding = self.removing = ()
        return True

    def _may_lead(self, node: int) -> bool:
        """Whether a broker is there, with the disk of its replica."""
        return self.rules.may_lead(node) and not self.before.is_lost(node)

    def _live(self) -> Ids:
        return tuple(node for node in self.replicas if self._may_lead(node))

    def _settle_elr(self, unclean: bool) -> None:
        if unclean:
            self.elr = ()
        elif self.rejoin:
            self._update_elr()
        else:
            self.elr = tuple(node for node in self.elr if node not in self.isr)

    def _update_elr(self) -> None:
        """Replicas that leave the ISR while it is below min.insync.replicas stay eligible."""
        if not self.rules.elr_enabled or len(self.isr) >= min(self.min_isr, len(self.replicas)):
            self.elr = ()
            return
        self.elr = tuple(sorted({*self.elr, *self.before.isr} - self.crashed - set(self.isr)))

    def _is_eligible(self, node: int) -> bool:
        in_sync = node in self.isr or (not self.isr and node in self.elr)
        return in_sync and self._may_lead(node)

    def _elect(self) -> tuple[int, bool]:
        """The leader, and whether it may lack records."""
        before = self.before
        if self.wanted is not None:
            return self.wanted, True
        first = (self.replicas[0],) if self.election is Election.PREFERRED else ()
        for node in (*first, before.leader, *self.replicas):
            if self._is_eligible(node) and node in self.replicas:
                return node, False
        if self.rules.elr_enabled and not self.isr and not self.elr and len(before.last_known_elr) == 1:
            last = before.last_known_elr[0]
            if self._may_lead(last):
                return last, True
        if self.election is Election.UNCLEAN:
            live = self._live()
            if live:
                return live[0], True
        return NO_LEADER, False

    def _fill(self, record: PartitionChangeRecord, leader: int) -> None:
        before = self.before
        if self.elr != before.elr:
            record.eligible_leader_replicas = list(self.elr)
        if self.isr != before.isr and (self.isr or self.rules.elr_enabled):
            record.isr = list(self.isr)
        if self.rules.elr_enabled:
            if record.leader == NO_LEADER and not before.last_known_elr and before.leader != NO_LEADER:
                record.last_known_elr = [before.leader]
            elif record.leader >= 0 and before.last_known_elr:
                record.last_known_elr = []
        if self.replicas != before.replicas:
            record.replicas = list(self.replicas)
            record.directories = self._directories()
        if self.removing != before.removing:
            record.removing_replicas = list(self.removing)
        if self.adding != before.adding:
            record.adding_replicas = list(self.adding)

    def _directories(self) -> list[bytes]:
        known = dict(zip(self.before.replicas, self.before.directories, strict=False))
        return [known.get(node) or self.rules.directories.get(node, ZERO_UUID) for node in self.replicas]


def _is_empty(record: PartitionChangeRecord) -> bool:
    if record.leader != NO_LEADER_CHANGE or record.leader_recovery_state != NO_RECOVERY_CHANGE:
        return False
    return not any(
        field is not None
        for field in (
            record.isr,
            record.eligible_leader_replicas,
            record.last_known_elr,
            record.replicas,
            record.removing_replicas,
            record.adding_replicas,
            record.directories,
        )
    )


def without(nodes: Sequence[int], gone: frozenset[int]) -> Ids:
    """`nodes` in their order, without those that are gone."""
    return tuple(node for node in nodes if node not in gone)
