"""The rebalances of a group, told from its records: who joined, who left, which partitions moved. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

TIMELINE_SCHEMA = (
    "group_id string, log_offset bigint, time_ms bigint, generation int, event string, member_id string,"
    " partitions array<string>"
)


_NEWER = ("Consumer", "Share", "Streams")
_OF_GROUP = frozenset({"GroupMetadata", *(f"{group_type}GroupMetadata" for group_type in _NEWER)})
_OF_MEMBER = frozenset(f"{group_type}GroupMemberMetadata" for group_type in _NEWER)
_CURRENT = frozenset(f"{group_type}GroupCurrentMemberAssignment" for group_type in _NEWER)


class GroupEvent(NamedTuple):
    """``event``: ``generation`` (a rebalance ended), ``joined``, ``left``, ``assigned``, ``revoked`` or ``deleted``."""

    group_id: str
    log_offset: int
    time_ms: int
    generation: int | None
    event: str
    member_id: str | None
    partitions: list[str]


def timeline(rows: Iterable[Mapping[str, Any]]) -> Iterator[GroupEvent]:
    """The events of one group from its rows (`coordinator_rows.GROUP_SCHEMA`) in the order of the log."""
    members: dict[str, set[str]] = {}
    generation: int | None = None
    for row in rows:
        kind, gone = row["kind"], row["tombstone"]
        if kind in _OF_GROUP:
            found, generation = _group_events(row, members, generation)
            yield from found
        elif kind in _OF_MEMBER:
            yield from _member_events(row, members, generation)
        elif kind in _CURRENT and not gone:
            member = row["member_id"]
            yield from _moved(row, row["generation"], member, members.get(member, set()), set(row["assignment"]))
            members[member] = set(row["assignment"])


def _event(
    row: Mapping[str, Any], generation: int | None, event: str, member: str | None, parts: Iterable[str]
) -> GroupEvent:
    return GroupEvent(row["group_id"], row["log_offset"], row["time_ms"], generation, event, member, sorted(parts))


def _group_events(
    row: Mapping[str, Any], members: dict[str, set[str]], before: int | None
) -> tuple[Sequence[GroupEvent], int | None]:
    """A record of the group itself; in the classic protocol it holds all members."""
    if row["tombstone"]:
        members.clear()
        return [_event(row, before, "deleted", None, ())], None
    generation = row["generation"]
    events = [] if generation == before else [_event(row, generation, "generation", None, ())]
    if row["kind"] == "GroupMetadata":
        now = {member["member_id"]: set(member["assignment"]) for member in row["members"]}
        for member in sorted(members.keys() - now.keys()):
            events.append(_event(row, generation, "left", member, members[member]))
        for member, assigned in sorted(now.items()):
            if member not in members:
                events.append(_event(row, generation, "joined", member, ()))
            events += _moved(row, generation, member, members.get(member, set()), assigned)
        members.clear()
        members.update(now)
    return events, generation


def _member_events(
    row: Mapping[str, Any], members: dict[str, set[str]], generation: int | None
) -> Iterator[GroupEvent]:
    member = row["member_id"]
    if row["tombstone"]:
        if member in members:
            yield _event(row, generation, "left", member, members.pop(member))
    elif member not in members:
        members[member] = set()
        yield _event(row, generation, "joined", member, ())


def _moved(
    row: Mapping[str, Any], generation: int | None, member: str, before: set[str], now: set[str]
) -> Iterator[GroupEvent]:
    if before - now:
        yield _event(row, generation, "revoked", member, before - now)
    if now - before:
        yield _event(row, generation, "assigned", member, now - before)
