"""A member of a classic group."""

from __future__ import annotations

from odradek.broker.coordinator.group.classic.commands import ExpireMember, Protocols
from odradek.broker.coordinator.group.classic.records import StoredMember
from odradek.protocol.native import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True)
class Member:
    """A member of a group, with what it waits for.

    `join_ticket` / `sync_ticket`: under which its JoinGroup / SyncGroup is parked. `is_new`: it has not been
    told of a generation yet, so it cannot send heartbeats. `assignment` is what the log says.
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
        """Whether it need not send heartbeats now: it waits for the others."""
        return not self.is_new and (self.join_ticket is not None or self.sync_ticket is not None)


def session_key(group_id: str, member_id: str) -> tuple[str, str, str]:
    """The key of a member's session timer."""
    return ("session", group_id, member_id)
