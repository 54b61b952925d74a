"""Share sessions: the partitions that a member of a share group fetches from a node, kept between its requests.

A member has at most one session with a node. It begins with epoch 0 and continues with rising epochs, in which only
changes are named. It ends with epoch -1 or with the connection that opened it; the member's records become available
then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from odradek.protocol.errors import ErrorCode, KafkaError

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 0x7FFFFFFF

Place = tuple[bytes, int]
"""Topic id and partition."""


class SessionKey(NamedTuple):
    """The owner of a session."""

    group_id: str
    member_id: str


class SharePlace:
    """One partition of a session. `name`: of its topic when it was added, None if there was none.

    `must_answer`: the next answer contains it in any case.
    """

    __slots__ = ("must_answer", "name", "place")

    def __init__(self, place: Place, name: str | None, *, must_answer: bool) -> None:
        self.place = place
        self.name = name
        self.must_answer = must_answer


class ShareSession:
    """One session. `places` are in the order in which they are served: a partition that returned records moves to the
    end.

    `epoch` is the epoch that the next request must have.
    """

    def __init__(self, key: SessionKey, places: Iterable[SharePlace], connection_id: str) -> None:
        self.key = key
        self.places = {place.place: place for place in places}
        self.connection_id = connection_id
        self.epoch = INITIAL_EPOCH + 1

    def change(self, added: Iterable[tuple[Place, str | None]], forgotten: Iterable[Place]) -> None:
        """Apply the changes that a request names."""
        for place, name in added:
            if place not in self.places:
                self.places[place] = SharePlace(place, name, must_answer=True)
        for place in forgotten:
            self.places.pop(place, None)

    def check(self, epoch: int) -> None:
        """INVALID_SHARE_SESSION_EPOCH unless a request carries the epoch that is due."""
        if epoch != self.epoch:
            raise KafkaError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)

    def advance(self) -> None:
        """A request was taken: the next epoch is due. They go round to 1."""
        self.epoch = next_epoch(self.epoch)

    def served(self, place: Place) -> None:
        """The partition has had its turn."""
        found = self.places.pop(place, None)
        if found is not None:
            self.places[place] = found


def next_epoch(epoch: int) -> int:
    """The session epoch that follows."""
    return 1 if epoch == MAX_EPOCH else epoch + 1


class ShareSessionCache:
    """The share sessions of one node. Owner: `SharePartitions`."""

    def __init__(self) -> None:
        self._sessions: dict[SessionKey, ShareSession] = {}
        self._connections: dict[str, SessionKey] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def find(self, key: SessionKey) -> ShareSession:
        """The session of a member; SHARE_SESSION_NOT_FOUND if it has none."""
        session = self._sessions.get(key)
        if session is None:
            raise KafkaError(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def open(
        self, key: SessionKey, places: Iterable[tuple[Place, str | None]], connection_id: str, limit: int
    ) -> ShareSession:
        """Begin a session, in place of another one of that member.

        SHARE_SESSION_LIMIT_REACHED when the node has `limit` sessions (group.share.max.share.sessions).
        """
        self.remove(key)
        if len(self._sessions) >= limit:
            raise KafkaError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = ShareSession(
            key, (SharePlace(place, name, must_answer=False) for place, name in places), connection_id
        )
        self._sessions[key] = session
        self._connections[connection_id] = key
        return session

    def remove(self, key: SessionKey) -> ShareSession | None:
        """End a session; None without one."""
        return self._sessions.pop(key, None)

    def closed(self, connection_id: str) -> tuple[SessionKey | None, bool]:
        """A connection has closed: the session opened last on it, as in Kafka, and whether that continues there."""
        key = self._connections.pop(connection_id, None)
        session = None if key is None else self._sessions.get(key)
        return key, session is not None and session.connection_id == connection_id

    def knows_connection(self, connection_id: str) -> bool:
        """Whether any session was opened on the connection."""
        return connection_id in self._connections

    def has_group(self, group_id: str) -> bool:
        """Whether any member of the group has a session here."""
        return any(key.group_id == group_id for key in self._sessions)
