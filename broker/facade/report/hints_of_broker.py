"""Causes that lie in the broker's state: transactions, clock, faults, replicas, retention."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.broker.facade.report.hints_of_protocols import is_wrong_protocol
from odradek.broker.facade.report.situation import Situation
from odradek.broker.transcript.request_text import client_of, few

_ENDS_BY_TIME = ("Fetch", "JoinGroup", "SyncGroup", "ShareFetch", "Produce")


def open_transactions(situation: Situation) -> Iterator[str]:
    """Records that committed reads do not see yet."""
    for topic in situation.topics.values():
        for each in topic.partitions:
            if each.last_stable_offset >= each.high_watermark:
                continue
            place = (topic.name, each.index)
            owners = [one.transactional_id for one in situation.transactions.values() if place in one.partitions]
            whose = f" of {few(sorted(owners), 3, ', ')}" if owners else ""
            yield (
                f"records of {topic.name}-{each.index} from offset {each.last_stable_offset} on lie in an open "
                f"transaction{whose}: isolation.level=read_committed does not see them"
            )


def clock_that_stands(situation: Situation) -> Iterator[str]:
    """Waits that never end."""
    if not situation.frozen:
        return
    for each in situation.requests:
        if each.state == "waiting" and each.api in _ENDS_BY_TIME:
            who = client_of(each)
            yield f"the clock is frozen and {each.api} of {who} waits: clock.advance(...) or resume() ends it"


def acting_faults(situation: Situation) -> Iterator[str]:
    """What the test told the broker to do."""
    for fault in situation.faults:
        if fault.acts or fault.delay_ms:
            met = "no request has met it" if not fault.hits else f"{fault.hits} requests have met it"
            over = fault.times is not None and fault.hits >= fault.times
            yield f"{fault!r} {'is over' if over else 'is set'}: {met}"


def no_leader(situation: Situation) -> Iterator[str]:
    """Partitions that nobody serves."""
    for topic in situation.topics.values():
        without = [f"{topic.name}-{each.index}" for each in topic.partitions if each.leader < 0]
        if without:
            yield f"{few(without)} has no leader: the nodes of its replicas in sync are down"


def nodes_and_replicas(situation: Situation) -> Iterator[str]:
    """What a test took away from the cluster."""
    for node in situation.down:
        yield f"node {node} is down"
    yield from situation.held_back


def refused_logins(situation: Situation) -> Iterator[str]:
    """Who was denied what. `wrong_protocols` tells of those who came to the wrong listener."""
    denied = [each for each in situation.denied if not is_wrong_protocol(each)]
    texts = list(dict.fromkeys(str(each) for each in denied))
    yield from texts[-3:]


def deleted_records(situation: Situation) -> Iterator[str]:
    """Records that retention took, which is more than a test may have wanted."""
    asked = {(place.topic, place.partition) for each in situation.by_api("DeleteRecords") for place in each.topics}
    for topic in situation.topics.values():
        for each in topic.partitions:
            if each.log_start_offset > 0 and (topic.name, each.index) not in asked:
                yield (
                    f"the records of {topic.name}-{each.index} before offset {each.log_start_offset} are gone: deleted "
                    f"by retention.ms={topic.config.get('retention.ms', 'the default')}, which looks at their "
                    "timestamps, or by the test"
                )
