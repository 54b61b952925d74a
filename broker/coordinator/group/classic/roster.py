"""The members of a classic group: each member, and the group's roster."""

from __future__ import annotations

from odradek.broker.coordinator.group.classic.commands import ExpireMember, Protocols
from odradek.broker.coordinator.group.classic.records import StoredMember
from odradek.protocol.consumer_protocol import subscribed_topics
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.native import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True)
class Member:
    """A member of a group, with its parked requests.

    `join_ticket` and `sync_ticket`: the tickets of its parked JoinGroup and SyncGroup. `is_new`: it is in no generation
    yet, so it cannot send heartbeats. `assignment`: the stored one.
    """

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "expiry",
        "instance_id",
        "is_new",
        "join_ticket",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session_key",
        "session_timeout_ms",
        "sync_ticket",
    )

    def __init__(
        self,
        group_id: str,
        member_id: str,
        instance_id: str | None,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocols: Protocols,
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocols = protocols
        self.assignment = assignment
        self.is_new = False
        self.join_ticket: int | None = None
        self.sync_ticket: int | None = None
        self.session_key = session_key(group_id, member_id)
        self.expiry = ExpireMember(group_id, member_id)

    @classmethod
    def from_stored(cls, group_id: str, protocol: str | None, stored: StoredMember) -> Member:
        """The member as the log has it: of its protocols only the group's is known."""
        return cls(
            group_id,
            stored.member_id,
            stored.instance_id,
            stored.client_id,
            stored.client_host,
            stored.rebalance_timeout_ms,
            stored.session_timeout_ms,
            ((protocol or "", stored.subscription),),
            stored.assignment,
        )

    def to_stored(self, protocol: str | None) -> StoredMember:
        """The member as the record of a generation with this protocol has it."""
        return StoredMember(
            self.member_id,
            self.instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.session_timeout_ms,
            b"" if protocol is None else self.metadata(protocol),
            self.assignment,
        )

    def renamed(self, group_id: str, member_id: str) -> Member:
        """The same static member under another member id, waiting for nothing."""
        return Member(
            group_id,
            member_id,
            self.instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.session_timeout_ms,
            self.protocols,
            self.assignment,
        )

    def metadata(self, protocol: str) -> bytes:
        """The metadata for one of its protocols."""
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        raise KeyError(protocol)

    @property
    def keeps_session(self) -> bool:
        """Whether it need not send heartbeats now, because it waits for the others."""
        return not self.is_new and (self.join_ticket is not None or self.sync_ticket is not None)


def session_key(group_id: str, member_id: str) -> tuple[str, str, str]:
    """The key of a member's session timer."""
    return ("session", group_id, member_id)


@mypyc_attr(allow_interpreted_subclasses=True)
class Roster:
    """The members by id, and figures derived from them, which stay consistent with each change.

    `static_members`: member ids by instance id. `pending_join`: ids that were given out and have not joined yet;
    `pending_sync`: members that owe a SyncGroup. `awaiting_join`: how many members wait for the end of the join phase.
    `supported`: how many members offer each protocol.
    """

    __slots__ = (
        "awaiting_join",
        "group_id",
        "leader",
        "members",
        "pending_join",
        "pending_sync",
        "static_members",
        "supported",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.static_members: dict[str, str] = {}
        self.pending_join: dict[str, None] = {}
        self.pending_sync: set[str] = set()
        self.awaiting_join = 0
        self.supported: dict[str, int] = {}

    # -- coming and going

    def add(self, member: Member) -> None:
        """Add a member; the first one determines the protocol type and leads."""
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id
        self._count(member, 1)
        if member.join_ticket is not None:
            self.awaiting_join += 1
        self.pending_join.pop(member.member_id, None)

    def remove(self, member_id: str) -> Member | None:
        """Remove a member or an id given out. If it was the leader, the next member leads."""
        self.pending_join.pop(member_id, None)
        self.pending_sync.discard(member_id)
        member = self.members.pop(member_id, None)
        if member is None:
            return None
        self._count(member, -1)
        if member.join_ticket is not None:
            self.awaiting_join -= 1
        if member.instance_id is not None and self.static_members.get(member.instance_id) == member_id:
            del self.static_members[member.instance_id]
        if self.leader == member_id:
            self.leader = next((other.member_id for other in self.in_map_order()), None)
        return member

    def update(self, member: Member, protocols: Protocols, session_timeout_ms: int, rebalance_timeout_ms: int) -> None:
        """Update a member that joins again, perhaps with other protocols."""
        self._count(member, -1)
        member.protocols = protocols
        member.session_timeout_ms = session_timeout_ms
        member.rebalance_timeout_ms = rebalance_timeout_ms
        self._count(member, 1)

    def replace_static(self, old: Member, member_id: str) -> Member:
        """Give a static member that comes back under a new member id its old place (KIP-345)."""
        assert old.instance_id is not None
        new = old.renamed(self.group_id, member_id)
        leads = self.leader == old.member_id
        self.members = {
            (member_id if key == old.member_id else key): (new if value is old else value)
            for key, value in self.members.items()
        }
        self.static_members[old.instance_id] = member_id
        if leads:
            self.leader = member_id
        if old.join_ticket is not None:
            self.awaiting_join -= 1
        if old.member_id in self.pending_sync:
            self.pending_sync.discard(old.member_id)
            self.pending_sync.add(member_id)
        return new

    def await_join(self, member: Member, ticket: int) -> int | None:
        """The member waits for the end of the join phase; returns the ticket it waited under before, if any."""
        before = member.join_ticket
        if before is None:
            self.awaiting_join += 1
        member.join_ticket = ticket
        return before

    def stop_awaiting_join(self, member: Member) -> int | None:
        """The member's JoinGroup is about to be answered; returns its ticket."""
        ticket = member.join_ticket
        if ticket is not None:
            member.join_ticket = None
            self.awaiting_join -= 1
        return ticket

    def validate_member(self, member_id: str, instance_id: str | None) -> Member:
        """The member; raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID when another one has taken the instance id."""
        if instance_id is not None:
            owner = self.static_members.get(instance_id)
            if owner is None:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
            if owner != member_id:
                raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    @property
    def all_joined(self) -> bool:
        """Whether all members, and all ids given out, wait for the end of the join phase."""
        return not self.pending_join and self.awaiting_join == len(self.members)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of its members' rebalance timeouts."""
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader has joined; False if no member has."""
        leader = self.members.get(self.leader or "")
        if leader is None:
            return False
        if leader.join_ticket is not None:
            return True
        for member in self.in_map_order():
            if member.join_ticket is not None:
                self.leader = member.member_id
                return True
        return False

    def in_map_order(self) -> list[Member]:
        """The members as Kafka walks them."""
        return [self.members[member_id] for member_id in java_order(self.members, hash_of_text)]

    # -- what they have in common

    def shares_any(self, protocols: Protocols) -> bool:
        """Whether all members offer one of these protocols."""
        everybody = len(self.members)
        return any(self.supported.get(name, 0) == everybody for name, _ in protocols)

    def select_protocol(self, instead_of: Member | None = None, protocols: Protocols = ()) -> str:
        """The protocol that all members support and most prefer, if `instead_of` had these `protocols`.

        Among equals the one wins that comes first in a Java hash map, as in Kafka.
        """
        offers = [protocols if m is instead_of else m.protocols for m in self.members.values()]
        candidates = set.intersection(*({name for name, _ in offer} for offer in offers))
        votes: dict[str, int] = {}
        for offer in offers:
            choice = next(name for name, _ in offer if name in candidates)
            votes[choice] = votes.get(choice, 0) + 1
        return max(java_order(votes, hash_of_text), key=votes.__getitem__)

    def find_topics(self, protocol: str | None) -> frozenset[str] | None:
        """All topics that the members, consumers, subscribe to with this protocol; None where that cannot be known."""
        if not self.members:
            return frozenset()
        if protocol is None:
            return None
        try:
            return frozenset(t for m in self.members.values() for t in subscribed_topics(m.metadata(protocol)))
        except (ProtocolError, KeyError):
            return None

    def _count(self, member: Member, step: int) -> None:
        for name in {name for name, _ in member.protocols}:
            left = self.supported.get(name, 0) + step
            if left:
                self.supported[name] = left
            else:
                del self.supported[name]
