"""Strictness: what a test relied on that a real cluster does not promise, and what follows from it."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from odradek.broker.facade.report.hints import automatic_topics, began_at_latest, not_committed
from odradek.broker.facade.report.situation import Situation, situation_since
from odradek.broker.facade.report.text import duration
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.mistakes import did_you_mean
from odradek.broker.requests.recent_requests import Exchange
from odradek.broker.schemas.framing import readings
from odradek.broker.transcript.recorded_request import RecordedRequest, client_of, count_records, is_trimmed
from odradek.broker.transcript.topic_positions import name_of
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.file_slice import joined
from odradek.protocol.record_batch import HEADER, HEADER_SIZE, RecordBatch, iter_batches
from odradek.protocol.records import Record
from odradek.protocol.shown import one_line

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.schemas.record_schemas import Part, RegisteredSchemas
    from odradek.protocol.message import Buffer


_READ_COMMITTED = 1
_BASE_OFFSET, _MAGIC = 0, 3
_SAME_IN_LOG = (6, 7, 9, 10, 11, 12)  # last offset delta, first timestamp, producer id and epoch, sequence, count
_SEVERAL = 2

_Client = tuple[str, str, int | str]
_Ranges = dict[int, list[tuple[int, int]]]


def partitioner_order(situation: Situation) -> Iterator[str]:
    """A topic whose records one producer spread, and whose reader got records of several partitions."""
    written = _batches_written(situation)
    if not written:
        return
    for (topic, reader, _), read in _ranges_read(situation).items():
        for (other, writer, _), spread in written.items():
            if other == topic and sum(_meet(spread.get(index, ()), read[index]) for index in read) >= _SEVERAL:
                yield (
                    f"{writer} wrote records without keys to several partitions of '{topic}', and {reader} read more "
                    "than one of them: there is no order between partitions, and a default partitioner spreads such "
                    "records otherwise each time. Give records that belong together the same key, the topic one "
                    "partition, or compare without order"
                )


def _meet(written: Iterable[tuple[int, int]], read: list[tuple[int, int]]) -> bool:
    return any(first < end and start <= last for first, last in written for start, end in read)


def _batches_written(situation: Situation) -> dict[_Client, _Ranges]:
    """Where a producer's records without keys are: (first, last) offsets of their batches, by partition."""
    found: dict[_Client, _Ranges] = defaultdict(dict)
    for each, request, answer in situation.answered("Produce"):
        for topic, index, offset, sent in _appended(situation, each, request, answer):
            trimmed = is_trimmed(each.exchange.frame)
            batch = _batch(situation.stored(topic, index, offset) if trimmed else sent)
            if batch is not None and _is_same(sent, batch) and _has_record_without_key(batch):
                producer = batch.producer_id if batch.has_producer_id else each.connection
                ranges = found[topic, client_of(each), producer].setdefault(index, [])
                ranges.append((offset, offset + batch.last_offset_delta))
    return {client: ranges for client, ranges in found.items() if len(ranges) >= _SEVERAL}


def _appended(
    situation: Situation, produced: RecordedRequest, request: Any, answer: Any
) -> Iterator[tuple[str, int, int, Buffer]]:
    """Batches in topics of several partitions: topic, partition, base offset, bytes. Large ones are kept as headers."""
    offsets = {
        (name_of(produced.topics_by_id, topic), each.index): each.base_offset
        for topic in answer.responses
        for each in topic.partition_responses
        if not each.error_code
    }
    for topic in request.topic_data:
        name = name_of(produced.topics_by_id, topic)
        info = situation.topics.get(name)
        for each in topic.partition_data if info is not None and len(info.partitions) >= _SEVERAL else ():
            offset = offsets.get((name, each.index))
            if offset is not None and each.records:
                yield name, each.index, offset, _in_one(each.records)


def _in_one(records: Any) -> Buffer:
    return records if isinstance(records, bytes | bytearray | memoryview) else joined(records)


def _batch(data: Buffer) -> RecordBatch | None:
    """A producer sends one batch for each partition."""
    try:
        return next(iter_batches(data), None)
    except CorruptDataError:
        return None


def _is_same(sent: Buffer, batch: RecordBatch) -> bool:
    """Whether the log still has what was sent: a topic may have been deleted and created again since."""
    if len(sent) < HEADER_SIZE:
        return False
    one, other = HEADER.unpack_from(sent), HEADER.unpack_from(batch.data)
    return all(one[field] == other[field] for field in _SAME_IN_LOG)


def _has_record_without_key(batch: RecordBatch) -> bool:
    try:
        return not batch.is_control and any(key is None for _, key, _ in batch.iter_keys())
    except CorruptDataError:
        return False


def _ranges_read(situation: Situation) -> dict[_Client, dict[int, list[tuple[int, int]]]]:
    """The fetched range of a client, by partition: from the first returned offset to the last readable one."""
    found: dict[_Client, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for fetched, request, answer in situation.answered("Fetch"):
        committed = request.isolation_level == _READ_COMMITTED
        for topic in answer.responses:
            name = name_of(fetched.topics_by_id, topic)
            for each in topic.partitions:
                start = _first_offset(each.records)
                if start is not None:
                    end = each.last_stable_offset if committed else each.high_watermark
                    found[name, client_of(fetched), fetched.connection][each.partition_index].append((start, end))
    return found


def _first_offset(records: Any) -> int | None:
    """The offset of the first fetched record; None if there is none."""
    data = _in_one(records or b"")
    if len(data) < HEADER_SIZE or count_records(data) == 0:
        return None
    fields = HEADER.unpack_from(data)
    return int(fields[_BASE_OFFSET]) if fields[_MAGIC] == 2 else None


_PARTS: tuple[Part, ...] = ("key", "value")


def unregistered_schema(situation: Situation) -> Iterator[str]:
    """Keys and values without the id of a registered schema, although their subject has a schema."""
    registered = situation.registered
    if registered is None:
        return
    found: Counter[tuple[str, str, Part]] = Counter()
    for client, topic, record in _records_written(situation):
        for part in _PARTS:
            data = record.key if part == "key" else record.value
            if (
                data is not None
                and registered.expects(topic, part)
                and not _is_registered(registered, topic, part, data)
            ):
                found[client, topic, part] += 1
    for (client, topic, part), count in found.items():
        yield (
            f"{client} wrote {count} {part}{'s' if count > 1 else ''} to '{topic}' without the id of a schema of the "
            f"registry, which has the subject '{topic}-{part}': who reads with its deserializer fails. Write with the "
            "serializer of the registry"
        )


def _is_registered(registered: RegisteredSchemas, topic: str, part: Part, data: bytes) -> bool:
    number = next(readings(data)).schema_id
    return number is not None and registered.schema(topic, part, number) is not None


def _records_written(situation: Situation) -> Iterator[tuple[str, str, Record]]:
    """Client, topic and record of each appended record that the log still has."""
    for each, _, answer in situation.answered("Produce"):
        for topic in answer.responses:
            name = name_of(each.topics_by_id, topic)
            for partition in topic.partition_responses:
                if not partition.error_code and partition.base_offset >= 0:
                    data = situation.stored(name, partition.index, partition.base_offset)
                    for record in _records(data, partition.base_offset):
                        yield client_of(each), name, record


def _records(data: bytes, base_offset: int) -> Iterator[Record]:
    """The records of the batch that begins there; none if the log has another batch now."""
    try:
        batch = next(iter_batches(data), None)
        if batch is not None and batch.base_offset == base_offset and not batch.is_control:
            yield from batch.records()
    except CorruptDataError:
        return


_MAX_TIMESTAMP = 8
_ALL_REPLICAS = -1
_ONGOING = "Ongoing"
_HEARTBEATS = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat")


def automatic_topic(situation: Situation) -> Iterator[str]:
    """A topic that was created automatically by one of these requests."""
    asked: set[str] = set()
    for _, _, answer in situation.answered("Metadata"):
        for topic in answer.topics:
            if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and topic.name:
                asked.add(topic.name)
    for name, client in situation.auto_created.items():
        if name in asked:
            known = {other: info for other, info in situation.topics.items() if other == name} | {
                other: info for other, info in situation.topics.items() if other not in situation.auto_created
            }
            for hint in automatic_topics(replace(situation, topics=known, auto_created={name: client})):
                yield (
                    f"{hint}; many clusters have auto.create.topics.enable=false, and others their own number of "
                    "partitions: create it, with topics=[...] or an admin client"
                )


def single_replica(situation: Situation) -> Iterator[str]:
    """Writes with acks=all to a topic with one replica, in a cluster of several nodes."""
    if situation.nodes < 2:
        return
    for each in situation.by_api("Produce"):
        request: Any = each.request
        if request is None or request.acks != _ALL_REPLICAS or each.errors:
            continue
        for name in dict.fromkeys(place.topic for place in each.topics):
            topic = situation.topics.get(name)
            if topic is not None and any(len(partition.replicas) == 1 for partition in topic.partitions):
                yield (
                    f"{client_of(each)} wrote to '{name}' with acks=all, and the topic has one replica in a cluster of "
                    f"{situation.nodes} nodes: the records are lost with that node. Create it with "
                    f"replication_factor={min(situation.nodes, 3)}"
                )


def starts_at_latest(situation: Situation) -> Iterator[str]:
    """A group without commits that began at the end of a partition."""
    for hint in began_at_latest(situation):
        yield (
            f"{hint}; what it reads depends on who is faster. Set auto.offset.reset=earliest, or produce when "
            "group.wait() has returned"
        )


def past_retention(situation: Situation) -> Iterator[str]:
    """Records that were older than the topic's retention when they were written."""
    for each in situation.by_api("Produce"):
        request: Any = each.request
        if request is None or each.errors:
            continue
        # A client's own timestamps follow real time, so moves of the clock before the request do not count.
        moves = (move for move in situation.clock_changes if move.what == "advance")
        moved_s = sum(move.seconds for move in moves if move.source_s <= each.exchange.seconds)
        now_ms = each.time_ms - moved_s * 1000
        for topic in request.topic_data:
            name = name_of(each.topics_by_id, topic)
            limit_ms = situation.retention_ms.get(name)
            stamps = [_newest_ms(partition.records) for partition in topic.partition_data]
            newest_ms = max((stamp for stamp in stamps if stamp is not None), default=None)
            if limit_ms is not None and newest_ms is not None and now_ms - newest_ms > limit_ms:
                yield (
                    f"{client_of(each)} wrote records to '{name}' with timestamps older than its "
                    f"retention.ms={limit_ms} ({duration(limit_ms / 1000)}): a real cluster deletes them soon. "
                    "Give them newer timestamps, or the topic retention.ms=-1"
                )


def _newest_ms(records: Any) -> int | None:
    """The newest timestamp of the first batch: of large requests only its header is kept."""
    data = _in_one(records or b"")
    if len(data) < HEADER_SIZE:
        return None
    fields = HEADER.unpack_from(data)
    stamp: int = fields[_MAX_TIMESTAMP]
    return stamp if fields[_MAGIC] == 2 and stamp >= 0 else None


def never_committed(situation: Situation) -> Iterator[str]:
    """A group that fetched records and never committed an offset."""
    asked: dict[tuple[str, str, int], str] = {}
    read: dict[str, str] = {}
    committed = {group for group, info in situation.groups.items() if info.offsets}
    for each, _, answer in situation.answered("OffsetFetch", "Fetch", "OffsetCommit", "TxnOffsetCommit"):
        client = client_of(each)
        if each.api == "OffsetFetch":
            asked |= {(client, *place): each.group or "" for place in not_committed(each, answer)}
        elif each.api == "Fetch":
            read |= {asked[key]: client for place in _places_read(each, answer) if (key := (client, *place)) in asked}
        elif not each.errors:
            committed |= set(each.summary.groups)
    for group, client in read.items():
        if group and group not in committed:
            yield (
                f"{client} read records for group '{group}', which never committed: a restart reads them again, or "
                "skips them with auto.offset.reset=latest. Commit what is done, or close() a consumer that commits by "
                "itself"
            )


def _places_read(fetched: RecordedRequest, answer: Any) -> Iterator[tuple[str, int]]:
    for topic in answer.responses:
        for each in topic.partitions:
            if count_records(each.records) != 0:
                yield name_of(fetched.topics_by_id, topic), each.partition_index


def open_clients(situation: Situation) -> Iterator[str]:
    """Members that joined and did not leave, and open transactions."""
    joined = set(_joined(situation))
    for group in situation.groups.values():
        for member in group.members:
            if (group.group_id, member.member_id) in joined and member.instance_id is None:
                yield (
                    f"{member.client_id or member.member_id} is still a member of group '{group.group_id}' at the end: "
                    "close() it. A real cluster keeps its partitions from the next member until its session is over"
                )
    used = {name for each in situation.requests for name in each.summary.transactional_ids}
    for one in situation.transactions.values():
        if one.state == _ONGOING and one.transactional_id in used:
            yield (
                f"the transaction of '{one.transactional_id}' is still open at the end: commit or abort it. In a real "
                f"cluster read_committed consumers stand before it for {duration(one.timeout_ms / 1000)}"
            )


def _joined(situation: Situation) -> Iterator[tuple[str, str]]:
    """Group and member id of new members in these requests. A member that rejoins is of an earlier test."""
    for each, request, answer in situation.answered("JoinGroup", *_HEARTBEATS):
        is_new = request.member_id == "" if each.api == "JoinGroup" else request.member_epoch == 0
        if is_new and each.group is not None:
            yield each.group, answer.member_id or request.member_id


def missing_requests(situation: Situation) -> Iterator[str]:
    """Findings that say what the other rules could not check."""
    if situation.lost:
        yield f"{situation.lost}: what went before could not be judged"


TRANSCRIPT = "transcript"
"""The rule for what cannot be judged. It only warns."""

Rule = Callable[[Situation], Iterator[str]]

RULES: dict[str, Rule] = {
    "auto-created": automatic_topic,
    "one-replica": single_replica,
    "began-at-latest": starts_at_latest,
    "past-retention": past_retention,
    "never-committed": never_committed,
    "not-closed": open_clients,
    TRANSCRIPT: missing_requests,
}

OPT_IN: dict[str, Rule] = {"partitioner-order": partitioner_order, "unregistered-schema": unregistered_schema}
"""Rules that correct tests break, too. They apply only where they are asked for."""

AT_END = frozenset({"never-committed", "not-closed"})
"""Rules about what a client may still do. They are checked when the test's clients should be closed."""


_MODES = ("fail", "warn")
_SWITCHES = (*(f"-{name}" for name in RULES), *(f"+{name}" for name in OPT_IN))


@dataclass(frozen=True, slots=True)
class StrictnessFinding:
    """A finding. ``rule`` is the name that turns the rule off; ``sentence`` says what was seen and what to do."""

    rule: str
    sentence: str

    def __str__(self) -> str:
        return one_line(f"{self.sentence} [{self.rule}]")


class StrictnessWarning(UserWarning):
    """A test relies on what a real cluster does not promise (``strict="warn"``)."""


class StrictnessError(AssertionError):
    """A test relies on what a real cluster does not promise (``strict=True``)."""


@dataclass(frozen=True, slots=True)
class Strictness:
    """``strict``: whether findings fail a test or warn, which rules are off, and which of `OPT_IN` are on."""

    fails: bool
    ignored: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()

    @classmethod
    def of(cls, strict: bool | str) -> Self | None:
        """The rules of ``True``, ``"warn"`` or ``"fail -auto-created +partitioner-order"``.

        None for False and "". ValueError for other texts, TypeError for other types.
        """
        if not isinstance(strict, bool | str):
            raise TypeError(f"strict={strict!r}: use True, 'fail' or 'warn', or text such as 'fail -auto-created'")
        words = ["fail"] if strict is True else (strict or "").split()
        if not words:
            return None
        if words[0] not in _MODES:
            raise ValueError(f"strict={strict!r}: begin with 'fail' or 'warn'")
        for word in words[1:]:
            if word not in _SWITCHES:
                raise ValueError(f"strict={strict!r}: {_no_switch(word)}")
        ignored, added = (frozenset(word[1:] for word in words[1:] if word[0] == sign) for sign in "-+")
        return cls(words[0] == "fail", ignored, added)

    @property
    def also(self) -> str:
        """The names of the opt-in rules that are on, as `strictness` takes them."""
        return " ".join(sorted(self.added))

    def judge(self, findings: Iterable[StrictnessFinding]) -> str:
        """Emit the warnings. Returns the text of the failure, empty if there is none."""
        failing: list[str] = []
        for each in findings:
            if each.rule in self.ignored:
                continue
            if self.fails and each.rule != TRANSCRIPT:
                failing.append(str(each))
            else:
                warnings.warn(str(each), StrictnessWarning, stacklevel=3)
        if not failing:
            return ""
        return "the test relies on what a real cluster does not promise:\n" + "\n".join(f"- {each}" for each in failing)

    def demand(self, findings: Iterable[StrictnessFinding]) -> None:
        """Warn, or raise StrictnessError."""
        text = self.judge(findings)
        if text:
            raise StrictnessError(text)


def _no_switch(word: str) -> str:
    """Why a word of ``strict`` means nothing."""
    if word[:1] == "-" and word[1:] in OPT_IN:
        return f"{word!r}: this rule is off unless '+{word[1:]}' switches it on"
    if word[:1] == "+" and word[1:] in RULES:
        return f"{word!r}: this rule is on unless '-{word[1:]}' switches it off"
    near = did_you_mean(word, _SWITCHES)
    return f"{word!r} switches no rule off or on{near}; -NAME, of {', '.join(RULES)}, or +NAME, of {', '.join(OPT_IN)}"


def opt_in_rules(also: str) -> frozenset[str]:
    """The names of `OPT_IN` in a text, with spaces between them. ValueError for other words, TypeError for no text."""
    if not isinstance(also, str):
        raise TypeError(f"also={also!r}: expected text with names of rules, such as {next(iter(OPT_IN))!r}")
    for name in (words := also.split()):
        if name not in OPT_IN:
            raise ValueError(
                f"also={also!r}: {name!r} is not an opt-in rule{did_you_mean(name, OPT_IN)}; there is "
                f"{', '.join(OPT_IN)}"
            )
    return frozenset(words)


def findings_in(situation: Situation, also: Collection[str] = ()) -> list[StrictnessFinding]:
    """The findings of all rules, each sentence once. `also`: which of `OPT_IN` are asked, too."""
    rules = {**RULES, **{name: rule for name, rule in OPT_IN.items() if name in also}}
    found = (StrictnessFinding(name, sentence) for name, rule in rules.items() for sentence in rule(situation))
    return list(dict.fromkeys(found))


def findings_since(
    cluster: Cluster, look: Call, since_s: float | None = None, also: str = ""
) -> list[StrictnessFinding]:
    """The findings of a broker, from a time of `ClockFace.source` on.

    `also`: names of opt-in rules; TypeError or ValueError for others.
    """
    rules = opt_in_rules(also)
    situation = situation_since(cluster, look, since_s)
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
