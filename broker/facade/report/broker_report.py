"""Reports of a running broker, and of one that has ended."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from odradek.broker.facade.report.situation import Situation, situation_of
from odradek.broker.facade.report.text import report_text, why_text
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.facade.transcript_view import TranscriptView
from odradek.broker.requests.exchange import Exchange
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.report.strictness import StrictnessFinding
    from odradek.broker.facade.thread_bridge import Call


def report_of(cluster: Cluster, look: Call, title: str, since_s: float | None, *, asked_only: bool) -> str:
    """The state of the broker, its requests (from a time of `ClockFace.source` on), and likely causes of a failure.

    `asked_only`: only topics and groups in these requests. The report is empty then if there are neither requests nor
    refusals.
    """
    situation = _situation(cluster, look, since_s)
    if asked_only:
        if not situation.requests and not situation.denied:
            return ""
        situation = situation.of_requests()
    return report_text(situation, title)


def why_of(cluster: Cluster, look: Call, group_id: str) -> str:
    """The state of a group, with likely causes."""
    return why_text(_situation(cluster, look, None), group_id)


def findings_since(
    cluster: Cluster, look: Call, since_s: float | None = None, also: str = ""
) -> list[StrictnessFinding]:
    """Findings of strictness from a time of `ClockFace.source` on.

    Things that clients relied on and a real cluster does not promise. `also`: names of opt-in rules; TypeError or
    ValueError for others.
    """
    from odradek.broker.facade.report.strictness import findings_in, opt_in_rules

    rules = opt_in_rules(also)
    situation = _situation(cluster, look, since_s)
    if since_s is not None:
        situation = situation.of_requests()
    situation = replace(situation, lost=_lost(cluster, since_s), stored=partial(_stored, cluster, look))
    return findings_in(situation, rules)


def _stored(cluster: Cluster, look: Call, topic: str, partition: int, offset: int) -> bytes:
    """The batch at an offset, as the log has it now."""
    from odradek.broker.facade.records.reading import batch_at

    try:
        return look(lambda: batch_at(cluster.topics, topic, partition, offset))
    except (BrokerClosedError, KafkaError):  # the log may be closed, or damaged
        return b""


def _lost(cluster: Cluster, since_s: float | None) -> str:
    recent = cluster.recent
    if not recent.messages:
        return "the transcript is off (odradek.transcript=false)"
    entries = recent.entries.copy()
    if len(entries) != entries.maxlen or (since_s is not None and Exchange._make(entries[0]).seconds < since_s):
        return ""
    return f"the transcript has the last {len(entries):,} requests only"


def _situation(cluster: Cluster, look: Call, since_s: float | None) -> Situation:
    """Requests are read in the caller's thread: the broker's has other things to do."""
    origin_s = cluster.clock.changes[0].source_s
    if since_s is not None:  # any number may come from a control API
        since_s = min(max(origin_s, since_s), cluster.clock.face.source())
    transcript = TranscriptView(cluster)
    requests = tuple(each for each in transcript if since_s is None or each.exchange.seconds >= since_s)
    since_ms = None if since_s is None else cluster.clock.ms_at(since_s)
    try:
        return look(lambda: situation_of(cluster, requests, origin_s, since_ms))
    except BrokerClosedError:  # nobody changes it any more
        return situation_of(cluster, requests, origin_s, since_ms)
