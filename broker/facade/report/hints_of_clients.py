"""Causes that the requests of clients tell of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from odradek.broker.config.suggestion import did_you_mean
from odradek.broker.facade.report.situation import Situation
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.broker.transcript.request_text import client_of, few
from odradek.broker.transcript.topic_positions import topic_name

_LATEST = -1
_ROUTINE = {"MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"}
_FENCED = {"ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID", "STALE_MEMBER_EPOCH"}
_TOLD_ELSEWHERE = {"JoinGroup", "LeaveGroup", "OffsetCommit", "TxnOffsetCommit", "SaslHandshake", "Metadata"}


def automatic_topics(situation: Situation) -> Iterator[str]:
    """A name that was misspelt, and a broker that made a topic of it."""
    meant = [name for name in situation.topics if name not in situation.auto_created]
    for name, client in situation.auto_created.items():
        if name in situation.topics:
            near = did_you_mean(name, meant).removeprefix(" (did you mean ").removesuffix("?)")
            exists = f": {near} exists" if near else ""
            yield f"topic '{name}' was created automatically, as {client or 'a client'} asked for it{exists}"


def missing_topics(situation: Situation) -> Iterator[str]:
    """Subscriptions and requests for what is not there."""
    for group in situation.groups.values():
        for topic in sorted({topic for member in group.members for topic in member.subscription}):
            if topic not in situation.topics and not topic.startswith("__"):
                near = did_you_mean(topic, situation.topics)
                yield f"group '{group.group_id}' subscribes to '{topic}', which does not exist{near}"
    for each in situation.by_api("Metadata"):
        if "UNKNOWN_TOPIC_OR_PARTITION" in each.errors:
            for place in each.topics:
                if place.topic not in situation.topics and not place.topic.startswith("__"):
                    near = did_you_mean(place.topic, situation.topics)
                    yield f"{client_of(each)} asked for topic '{place.topic}', which does not exist{near}"


def began_at_latest(situation: Situation) -> Iterator[str]:
    """A consumer without a commit, that asked where the end is, and begins there."""
    uncommitted: dict[tuple[str, str, int], str] = {}
    began: dict[str, dict[str, None]] = {}
    for each in situation.by_api("OffsetFetch", "ListOffsets"):
        client = client_of(each)
        if each.api == "OffsetFetch":
            for topic, index in not_committed(each):
                uncommitted[client, topic, index] = each.group or ""
            continue
        for topic, index, offset in _at_latest(each):
            group = uncommitted.get((client, topic, index))
            if group is not None and offset > 0:
                began.setdefault(group, {})[f"{topic}-{index}@{offset}"] = None
    for group, places in began.items():
        yield (
            f"group '{group}' has no commits and began at latest, {few(list(places))}: what was there before is not "
            "read (auto.offset.reset=earliest reads it)"
        )


def not_committed(fetched: RecordedRequest) -> Iterator[tuple[str, int]]:
    """The partitions for which an OffsetFetch was told that the group has no commit."""
    answer: Any = fetched.response
    if answer is None:
        return
    for topic in [topic for group in answer.groups for topic in group.topics] or answer.topics:
        for each in topic.partitions:
            if each.committed_offset < 0 and not each.error_code:
                yield topic.name or topic_name(fetched.topics_by_id, topic.topic_id), each.partition_index


def _at_latest(listed: RecordedRequest) -> Iterator[tuple[str, int, int]]:
    request: Any = listed.request
    answer: Any = listed.response
    if request is None or answer is None:
        return
    asked = {
        (topic.name, each.partition_index)
        for topic in request.topics
        for each in topic.partitions
        if each.timestamp == _LATEST
    }
    for topic in answer.topics:
        for each in topic.partitions:
            if (topic.name, each.partition_index) in asked and not each.error_code:
                yield topic.name, each.partition_index, each.offset


def timed_out_members(situation: Situation) -> Iterator[str]:
    """Members that were silent for longer than their session, on a clock that a test moved."""
    joined: dict[tuple[str, str], tuple[RecordedRequest, int | None]] = {}
    for each in situation.by_api("JoinGroup", "ConsumerGroupHeartbeat", "LeaveGroup"):
        request: Any = each.request
        answer: Any = each.response
        if request is None or answer is None or each.group is None:
            continue
        if each.api == "LeaveGroup" and each.errors:
            continue  # it was no member any more
        if each.api == "LeaveGroup" or (each.api == "ConsumerGroupHeartbeat" and request.member_epoch < 0):
            for member in [one.member_id for one in getattr(request, "members", ())] or [request.member_id]:
                joined.pop((each.group, member), None)
        elif not each.errors:
            member = getattr(answer, "member_id", None) or request.member_id
            joined[each.group, member] = each, getattr(request, "session_timeout_ms", None)
    for (group, member), (each, timeout_ms) in joined.items():
        info = situation.groups.get(group)
        if info is not None and any(one.member_id == member for one in info.members):
            continue
        jumps = [
            change.seconds
            for change in situation.clock_changes
            if change.what == "advance" and change.source_s >= each.exchange.seconds
        ]
        if jumps and (timeout_ms is None or sum(jumps) * 1000 >= timeout_ms):
            limit = "" if timeout_ms is None else f" ({timeout_ms / 1000:g} s)"
            yield (
                f"{client_of(each)} left group '{group}' at its session time-out{limit} after clock.advance, "
                f"{sum(jumps):g} s in all: a client's own heartbeats follow real time"
            )


def sasl_on_a_plain_listener(situation: Situation) -> Iterator[str]:
    """A client that logs in where nobody does."""
    for each in situation.by_api("SaslHandshake"):
        if "ILLEGAL_SASL_STATE" in each.errors:
            yield (
                f"{client_of(each)} asked for SASL at {each.broker}, a listener where nobody logs in: its "
                "security.protocol is not the broker's (see broker.client_config())"
            )


def refused_joins(situation: Situation) -> Iterator[str]:
    """Members that speak otherwise than the group."""
    for each in situation.by_api("JoinGroup", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat"):
        for error in set(each.errors) - _ROUTINE - {"UNKNOWN_MEMBER_ID"}:
            info = situation.groups.get(each.group or "")
            speaks = f"; the group is {info.type or 'gone'}, {info.protocol_type}: {info.protocol}" if info else ""
            yield f"{client_of(each)} could not join group '{each.group}': {error}{speaks}"


def refused_commits(situation: Situation) -> Iterator[str]:
    """Commits of those who are no members any more."""
    for each in situation.by_api("OffsetCommit", "TxnOffsetCommit"):
        errors = set(each.errors)
        if errors:
            why = (
                ": it is no member of this generation any more, what it read is read again" if errors & _FENCED else ""
            )
            yield f"a commit of {client_of(each)} for group '{each.group}' was refused, {few(sorted(errors), 2)}{why}"


def refused_requests(situation: Situation) -> Iterator[str]:
    """Other errors, counted."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for each in situation.requests:
        if each.api not in _TOLD_ELSEWHERE:
            counted.update((client_of(each), each.api, error) for error in each.errors if error not in _ROUTINE)
        if each.cut is not None and each.cut != "the client has gone":
            counted[client_of(each), each.api, f"connection cut, {each.cut}"] += 1
    for (client, api, error), count in counted.most_common(4):
        yield f"{api} of {client} was answered with {error}{f' {count} times' if count > 1 else ''}"
