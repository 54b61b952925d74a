"""Hints: sentences that name a likely cause of a failure. Each states a fact that was seen, not a guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.report.situation import Situation
from odradek.broker.mistakes import did_you_mean
from odradek.broker.security.denials import NO_LOG_IN, PLAIN_TEXT, TLS
from odradek.broker.transcript.recorded_request import RecordedRequest, client_of, few
from odradek.broker.transcript.topic_positions import name_of
from odradek.protocol.shown import one_line

if TYPE_CHECKING:
    from odradek.broker.security.denials import Denial


_WHAT = {
    PLAIN_TEXT: "spoke plain text to a TLS listener",
    TLS: "spoke TLS to a listener without TLS",
    NO_LOG_IN: "did not log in at a listener that requires it",
}
"""The beginning of a reason -> what the client did."""


def is_wrong_protocol(denial: Denial) -> bool:
    """Whether `wrong_protocols` reports a refusal."""
    return denial.operation == "LOGIN" and denial.reason.startswith(tuple(_WHAT))


def wrong_protocols(situation: Situation) -> Iterator[str]:
    """Clients whose `security.protocol` is not that of the listener: they see lost connections and time-outs."""
    for denial in situation.denied:
        for beginning, what in _WHAT.items():
            if denial.operation == "LOGIN" and denial.reason.startswith(beginning):
                yield (
                    f"a client at {denial.host} {what} ({denial.listener}): its security.protocol is not the broker's "
                    "(see broker.client_config())"
                )


def unserved_versions(situation: Situation) -> Iterator[str]:
    """Clients that are too old or too new for the broker and do not send ApiVersions."""
    for each in situation.unserved:
        who = f"client '{one_line(each.client)}'" if each.client else "a client without an id"
        yield f"{who} at {each.host} was cut: {each}, as in Kafka 4 (is a version pinned, or the client old?)"


_ENDS_BY_TIME = ("Fetch", "JoinGroup", "SyncGroup", "ShareFetch", "Produce")


def open_transactions(situation: Situation) -> Iterator[str]:
    """Records that read_committed does not see yet."""
    for topic in situation.topics.values():
        for each in topic.partitions:
            if each.last_stable_offset >= each.high_watermark:
                continue
            place = (topic.name, each.index)
            owners = [one.transactional_id for one in situation.transactions.values() if place in one.partitions]
            whose = f" of {few(sorted(owners), 3, ', ')}" if owners else ""
            yield (
                f"records of {topic.name}-{each.index} from offset {each.last_stable_offset} on belong to an open "
                f"transaction{whose}: isolation.level=read_committed does not see them"
            )


def clock_that_stands(situation: Situation) -> Iterator[str]:
    """Requests that wait for a frozen clock."""
    if not situation.frozen:
        return
    for each in situation.requests:
        if each.state == "waiting" and each.api in _ENDS_BY_TIME:
            who = client_of(each)
            yield f"the clock is frozen and {each.api} of {who} waits: clock.advance(...) or resume() ends it"


def acting_faults(situation: Situation) -> Iterator[str]:
    """Faults that the test has set."""
    for fault in situation.faults:
        if fault.acts or fault.delay_ms:
            met = "no request has met it" if not fault.hits else f"{fault.hits} requests have met it"
            over = fault.times is not None and fault.hits >= fault.times
            yield f"{fault!r} {'is over' if over else 'is set'}: {met}"


def no_leader(situation: Situation) -> Iterator[str]:
    """Partitions without a leader."""
    for topic in situation.topics.values():
        without = [f"{topic.name}-{each.index}" for each in topic.partitions if each.leader < 0]
        if without:
            yield f"{few(without)} has no leader: the nodes of its replicas in sync are down"


def nodes_and_replicas(situation: Situation) -> Iterator[str]:
    """Nodes that are down, and replicas that a test holds back."""
    for node in situation.down:
        yield f"node {node} is down"
    yield from situation.held_back


def refused_logins(situation: Situation) -> Iterator[str]:
    """The last refusals. `wrong_protocols` reports clients that use the wrong listener."""
    denied = [each for each in situation.denied if not is_wrong_protocol(each)]
    texts = list(dict.fromkeys(str(each) for each in denied))
    yield from texts[-3:]


def deleted_records(situation: Situation) -> Iterator[str]:
    """Records that retention has deleted, perhaps against the intention of the test."""
    asked = {(place.topic, place.partition) for each in situation.by_api("DeleteRecords") for place in each.topics}
    for topic in situation.topics.values():
        for each in topic.partitions:
            if each.log_start_offset > 0 and (topic.name, each.index) not in asked:
                yield (
                    f"the records of {topic.name}-{each.index} before offset {each.log_start_offset} were deleted, by "
                    f"retention.ms={topic.config.get('retention.ms', 'the default')}, which uses their timestamps, "
                    "or by the test"
                )


_LATEST = -1
_ROUTINE = {"MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"}
_FENCED = {"ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID", "STALE_MEMBER_EPOCH"}
_TOLD_ELSEWHERE = {"JoinGroup", "LeaveGroup", "OffsetCommit", "TxnOffsetCommit", "SaslHandshake", "Metadata"}


def automatic_topics(situation: Situation) -> Iterator[str]:
    """Topics that were created automatically, perhaps from a misspelt name."""
    meant = [name for name in situation.topics if name not in situation.auto_created]
    for name, client in situation.auto_created.items():
        if name in situation.topics:
            near = did_you_mean(name, meant).removeprefix(" (did you mean ").removesuffix("?)")
            exists = f": {near} exists" if near else ""
            yield f"topic '{name}' was created automatically, as {client or 'a client'} asked for it{exists}"


def missing_topics(situation: Situation) -> Iterator[str]:
    """Subscriptions and requests for topics that do not exist."""
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
    """Groups without a commit that began at the end of a partition."""
    uncommitted: dict[tuple[str, str, int], str] = {}
    began: dict[str, dict[str, None]] = {}
    for each, request, answer in situation.answered("OffsetFetch", "ListOffsets"):
        client = client_of(each)
        if each.api == "OffsetFetch":
            for topic, index in not_committed(each, answer):
                uncommitted[client, topic, index] = each.group or ""
            continue
        for topic, index, offset in _at_latest(request, answer):
            group = uncommitted.get((client, topic, index))
            if group is not None and offset > 0:
                began.setdefault(group, {})[f"{topic}-{index}@{offset}"] = None
    for group, places in began.items():
        yield (
            f"group '{group}' has no commits and began at latest, {few(list(places))}: earlier records are not read "
            "(auto.offset.reset=earliest reads them)"
        )


def not_committed(fetched: RecordedRequest, answer: Any) -> Iterator[tuple[str, int]]:
    """The partitions without a commit in the answer to an OffsetFetch."""
    for topic in [topic for group in answer.groups for topic in group.topics] or answer.topics:
        for each in topic.partitions:
            if each.committed_offset < 0 and not each.error_code:
                yield name_of(fetched.topics_by_id, topic), each.partition_index


def _at_latest(request: Any, answer: Any) -> Iterator[tuple[str, int, int]]:
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
    for each, request, answer in situation.answered("JoinGroup", "ConsumerGroupHeartbeat", "LeaveGroup"):
        if each.group is None or (each.api == "LeaveGroup" and each.errors):
            continue  # it had left before
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
    """Clients that log in at a listener without log-ins."""
    for each in situation.by_api("SaslHandshake"):
        if "ILLEGAL_SASL_STATE" in each.errors:
            yield (
                f"{client_of(each)} asked for SASL at {each.broker}, a listener without log-ins: its "
                "security.protocol is not the broker's (see broker.client_config())"
            )


def refused_joins(situation: Situation) -> Iterator[str]:
    """Members whose protocol is not the group's."""
    for each in situation.by_api("JoinGroup", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat"):
        for error in set(each.errors) - _ROUTINE - {"UNKNOWN_MEMBER_ID"}:
            info = situation.groups.get(each.group or "")
            speaks = f"; the group is {info.type or 'gone'}, {info.protocol_type}: {info.protocol}" if info else ""
            yield f"{client_of(each)} could not join group '{each.group}': {error}{speaks}"


def refused_commits(situation: Situation) -> Iterator[str]:
    """Refused commits, most of them of former members."""
    for each in situation.by_api("OffsetCommit", "TxnOffsetCommit"):
        errors = set(each.errors)
        if errors:
            why = (
                ": it is no longer a member of this generation, and its records will be read again"
                if errors & _FENCED
                else ""
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


_HINTS: tuple[Callable[[Situation], Iterator[str]], ...] = (
    automatic_topics,
    missing_topics,
    began_at_latest,
    open_transactions,
    timed_out_members,
    clock_that_stands,
    acting_faults,
    no_leader,
    nodes_and_replicas,
    sasl_on_a_plain_listener,
    wrong_protocols,
    unserved_versions,
    refused_logins,
    refused_joins,
    refused_commits,
    deleted_records,
    refused_requests,
)


def hints_of(situation: Situation) -> list[str]:
    """Likely causes of a failed test."""
    return list(dict.fromkeys(hint for hints in _HINTS for hint in hints(situation)))
