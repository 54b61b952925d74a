"""Reports: a situation as text, short, aligned and of bounded size."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from odradek.broker.facade.groups.info import GroupInfo, MemberInfo
from odradek.broker.facade.report.hints import hints_of
from odradek.broker.facade.report.situation import Situation, situation_since
from odradek.broker.facade.topics import TopicInfo
from odradek.broker.mistakes import did_you_mean
from odradek.broker.transcript.recorded_request import RecordedRequest, few, lines_of
from odradek.protocol.shown import one_line

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.thread_bridge import Call


_PARTITIONS = 24
_GROUPS = 8
_MEMBERS = 6
_TRANSACTIONS = 8
_REQUESTS = 40
_HINTS = 12
_SAME_WITHIN = 4
_WIDEST = 220


def report_text(situation: Situation, title: str = "", *, hints: bool = True) -> str:
    """The report: likely causes first, then the state."""
    found = hints_of(situation)[:_HINTS] if hints else []
    sections = [
        ("why (what may explain a failure)", [f"- {hint}" for hint in found]),
        ("topics", list(_topics(situation.topics.values()))),
        ("groups", list(_groups(situation.groups.values()))),
        ("transactions", list(_transactions(situation))),
        ("requests", _requests(situation)),
    ]
    lines = [one_line(", ".join(filter(None, (title, _clock(situation)))))]
    for name, content in sections:
        if content:
            lines.append(f"{name}:")
            shown = map(one_line, content)
            lines += [f"  {line}" if len(line) <= _WIDEST else f"  {line[: _WIDEST - 1]}…" for line in shown]
    return "\n".join(lines)


def _clock(situation: Situation) -> str:
    if not situation.now_ms:
        return ""  # of a broker that was asked over the wire
    seconds, ms = divmod(situation.now_ms, 1000)
    shown = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    moved = sum(change.seconds for change in situation.clock_changes)
    words = [f"clock {shown}.{ms:03} UTC"]
    if moved:
        words.append(f"advanced by {duration(moved)}")
    if situation.frozen:
        words.append("frozen")
    return ", ".join(words)


def duration(seconds: float) -> str:
    """`46 s`, `2 h 5 min`."""
    if seconds < 120:
        return f"{seconds:g} s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    words = [(hours, "h"), (minutes, "min"), (left, "s")]
    return " ".join(f"{number} {unit}" for number, unit in words if number)


def _topics(topics: Iterable[TopicInfo]) -> Iterator[str]:
    rows = []
    for topic in topics:
        for each in topic.partitions:
            facts = f"{each.log_start_offset}..{each.high_watermark}"
            if each.log_end_offset > each.high_watermark:
                facts += f", {each.log_end_offset - each.high_watermark} not replicated"
            if each.last_stable_offset < each.high_watermark:
                facts += f", committed to {each.last_stable_offset}"
            leader = "no leader" if each.leader < 0 else f"leader {each.leader}"
            nodes = f", {leader}, in sync {few(each.isr, 5, ',')}" if len(each.replicas) > 1 or each.leader < 0 else ""
            rows.append((f"{topic.name}-{each.index}", facts + nodes))
    yield from _two_columns(rows, _PARTITIONS, "partitions")


def _groups(groups: Iterable[GroupInfo]) -> Iterator[str]:
    every = list(groups)
    for group in every[:_GROUPS]:
        members = f"{len(group.members)} member{'' if len(group.members) == 1 else 's'}"
        kind = f", {group.type}" if group.type not in ("", "classic") else ""
        committed = "" if group.offsets or group.type == "share" else ", nothing committed"
        yield f"{group.group_id}: {group.state}, generation {group.generation}, {members}{kind}{committed}"
        for member in group.members[:_MEMBERS]:
            yield f"  {_member(member)}"
        if len(group.members) > _MEMBERS:
            yield f"  +{len(group.members) - _MEMBERS} members more"
        rows = []
        for (topic, index), offset in group.offsets.items():
            end = "gone" if offset.lag is None else f"end {offset.offset + offset.lag}, lag {offset.lag}"
            rows.append((f"{topic}-{index}", f"committed {offset.offset}, {end}"))
        rows += [(f"{topic}-{index}", "nothing committed, and there are records") for topic, index in group.uncommitted]
        yield from (f"  {line}" for line in _two_columns(rows, 12, "partitions"))
    if len(every) > _GROUPS:
        yield f"+{len(every) - _GROUPS} groups more"


def _member(member: MemberInfo) -> str:
    has = [f"{topic}-{index}" for topic, indexes in sorted(member.assignment.items()) for index in indexes]
    asks = few(member.subscription, 4, ", ") or member.regex or "nothing"
    return f"{member.client_id or member.member_id} subscribes to {asks}: has {few(has, 8) or 'no partition'}"


def _transactions(situation: Situation) -> Iterator[str]:
    open_ones = [each for each in situation.transactions.values() if each.age_ms is not None]
    for each in open_ones[:_TRANSACTIONS]:
        places = few([f"{topic}-{index}" for topic, index in each.partitions], 8)
        held = f", held at {few(each.held_at, 3, ', ')}" if each.held_at else ""
        age = duration((each.age_ms or 0) / 1000)
        yield f"{each.transactional_id}: {each.state} for {age}, {places or 'no partition'}{held}"
    if len(open_ones) > _TRANSACTIONS:
        yield f"+{len(open_ones) - _TRANSACTIONS} more"


def _requests(situation: Situation) -> list[str]:
    """The last requests. Repeated lines are printed once, and jumps of the clock are shown between them."""
    chosen = _without_repetitions(situation.requests)[-_REQUESTS:]
    lines = lines_of([each for each, _ in chosen])
    told: list[str] = []
    before = chosen[0][0].exchange.seconds if chosen else 0.0
    moves = [change for change in situation.clock_changes if change.what != "start"]
    for (each, times), line in zip(chosen, lines, strict=True):
        at = each.exchange.seconds
        told += [_move(move) for move in moves if before <= move.source_s < at]
        before = at
        told.append(line if times == 1 else f"{line} ({times} times)")
    told += [_move(move) for move in moves if before <= move.source_s] if chosen else []
    hidden = len(situation.requests) - sum(times for _, times in chosen)
    return [f"({hidden} before)", *told] if hidden > 0 else told


def _move(change: object) -> str:
    what, seconds = getattr(change, "what", ""), getattr(change, "seconds", 0.0)
    words = {"advance": f"clock.advance: {duration(seconds)}", "freeze": "clock.freeze", "resume": "clock.resume"}
    return f"--- {words.get(what, what)}"


def _without_repetitions(requests: Sequence[RecordedRequest]) -> list[tuple[RecordedRequest, int]]:
    """The latest of equal requests that follow each other closely, with their number."""
    found: list[tuple[RecordedRequest, int]] = []
    keys: list[tuple[object, ...]] = []
    for each in requests:
        exchange = each.exchange
        about = (each.topics, each.summary.groups, each.state, each.errors)
        key = (exchange.api_key, each.client_id, exchange.node_id, *about)
        recent = keys[-_SAME_WITHIN:]
        if each.api in _REPEATED and key in recent:
            place = len(keys) - len(recent) + recent.index(key)
            _, times = found.pop(place)
            keys.pop(place)
            found.append((each, times + 1))
        else:
            found.append((each, 1))
        keys.append(key)
    return found


_HEARTBEATS = {"Heartbeat", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat"}
_REPEATED = {"Fetch", "ShareFetch", "Metadata", "ApiVersions", *_HEARTBEATS}


def _two_columns(rows: list[tuple[str, str]], most: int, things: str) -> Iterator[str]:
    shown = rows[:most]
    width = max((len(name) for name, _ in shown), default=0)
    for name, facts in shown:
        yield f"{name:<{width}}  {facts}"
    if len(rows) > most:
        yield f"+{len(rows) - most} {things} more"


def why_text(situation: Situation, group_id: str) -> str:
    """The state of a group, with likely causes."""
    group = situation.groups.get(group_id)
    if group is None or group.state == "Dead":
        known = f"the groups: {', '.join(sorted(situation.groups))}" if situation.groups else "there are no groups"
        return one_line(f"group '{group_id}' does not exist{did_you_mean(group_id, situation.groups)}; {known}")
    lines = [one_line(f"- {each}") for each in (*reasons(group), *_about(situation, group))]
    topics = {topic for member in group.members for topic in member.subscription} | {name for name, _ in group.offsets}
    clients = {each.client_id for each in situation.requests if group_id in each.summary.groups}
    seen = replace(
        situation,
        topics={name: topic for name, topic in situation.topics.items() if name in topics},
        groups={group_id: group},
        transactions={},
        requests=tuple(each for each in situation.requests if each.client_id in clients),
        faults=(),
        held_back=(),
        denied=(),
        auto_created={},
    )
    return "\n".join([*(lines or ["- nothing unusual is known of it"]), report_text(seen, hints=False).lstrip("\n")])


def _about(situation: Situation, group: GroupInfo) -> list[str]:
    """The hints that concern the group: those that name no other group."""
    others = [name for name in situation.groups if name != group.group_id]
    return [hint for hint in hints_of(situation) if not any(f"group '{name}'" in hint for name in others)]


def reasons(group: GroupInfo) -> list[str]:
    """Hints from the group's own state."""
    found = []
    name = f"group '{group.group_id}'"
    if not group.members:
        found.append(f"{name} has no members ({group.state}): nobody reads for it")
    elif group.state not in ("Stable", ""):
        found.append(f"{name} is in state {group.state}: its members get no records until it is Stable")
    if group.unassigned:
        places = ", ".join(f"{topic}-{index}" for topic, index in group.unassigned[:6])
        found.append(f"nobody has {places}, of the topics that it subscribes to")
    if group.type != "share" and not group.offsets:
        found.append(f"{name} has never committed: a restart begins where auto.offset.reset says")
    idle = [member for member in group.members if not any(member.assignment.values())]
    if idle and group.state == "Stable":
        found.append(f"{len(idle)} of its {len(group.members)} members have no partition")
    caught_up = group.lag == 0 and group.offsets
    if caught_up:
        found.append(f"{name} has committed all that there is: there is nothing more to read")
    return found


def report_of(cluster: Cluster, look: Call, title: str, since_s: float | None, *, asked_only: bool) -> str:
    """The state of the broker, its requests (from a time of `ClockFace.source` on), and likely causes of a failure.

    `asked_only`: only topics and groups in these requests. The report is empty then if there are neither requests nor
    refusals.
    """
    situation = situation_since(cluster, look, since_s)
    if asked_only:
        if not situation.requests and not situation.denied:
            return ""
        situation = situation.of_requests()
    return report_text(situation, title)


def why_of(cluster: Cluster, look: Call, group_id: str) -> str:
    """The state of a group, with likely causes."""
    return why_text(situation_since(cluster, look, None), group_id)
