"""The options of the `odradek` data source and of the retry job, checked: docs/pipeline.md describes them.

Also the limit of a micro-batch, which Spark asks of a Python source from 4.2 on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from odradek.client_security.options import PLAIN_TEXT, ClientSecurity, SecurityOptionError, security_options
from odradek.pipeline.cluster_client import EARLIEST, LATEST, TopicPartition
from odradek.pipeline.pushdown import Narrowing

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadAllAvailable as ReadAllAvailable
    from pyspark.sql.streaming.datasource import ReadLimit as ReadLimit
    from pyspark.sql.streaming.datasource import ReadMaxRows as ReadMaxRows
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as SupportsTriggerAvailableNow

    LIMITS_KNOWN: bool
else:
    try:
        from pyspark.sql.streaming.datasource import (
            ReadAllAvailable,
            ReadLimit,
            ReadMaxRows,
            SupportsTriggerAvailableNow,
        )

        LIMITS_KNOWN = True
    except ImportError:  # Spark before 4.2 does not ask a Python source how much a micro-batch reads
        LIMITS_KNOWN = False

        class ReadLimit: ...

        class ReadAllAvailable(ReadLimit): ...

        class ReadMaxRows(ReadLimit): ...

        class SupportsTriggerAvailableNow: ...


Position = Literal["earliest", "latest"] | dict[str, dict[int, int]]


class OptionError(ValueError):
    """An option of the data source that is unknown, missing, contradictory or malformed."""


class MissingTopicError(OptionError):
    """The options name topics that do not exist."""

    def __init__(self, topics: list[str]) -> None:
        super().__init__(f"no topic {', '.join(topics)}")
        self.topics = topics


_CLUSTER = ("kafka.bootstrap.servers", "bootstrap.servers")
_TOPICS = ("subscribe", "subscribePattern", "startingOffsets", "endingOffsets", "startingTimestamp", "endingTimestamp")
_READING = ("isolation", "includeControl", "failOnDataLoss", "pushFilters")
_SIZES = ("maxOffsetsPerTrigger", "recordsPerTask", "bytesPerTask")
_KNOWN = ("path", *_CLUSTER, *_TOPICS, *_READING, *_SIZES)


@dataclass(frozen=True)
class SourceOptions:
    """What to read; exactly one of `path` and `bootstrap_servers` is set."""

    path: str | None
    bootstrap_servers: str | None
    topics: tuple[str, ...] | None
    pattern: str | None
    starting: Position
    ending: Position
    from_ms: int | None
    until_ms: int | None
    read_committed: bool
    control: bool
    fail_on_data_loss: bool
    records_per_task: int | None
    bytes_per_task: int | None
    max_offsets_per_trigger: int | None
    push_filters: bool
    security: ClientSecurity = PLAIN_TEXT

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> SourceOptions:
        """From the options of a reader, whose names are not case-sensitive; raises OptionError."""
        options, security = known_options(given, _KNOWN)

        def value(name: str, read: Callable[[str, str], Any], default: str | None = None) -> Any:
            text = options.get(name.lower(), default)
            return None if text is None else read(name, text)

        path = options.get("path")
        servers = options.get("kafka.bootstrap.servers") or options.get("bootstrap.servers")
        if bool(path) == bool(servers):
            raise OptionError("give a log directory (load(path)) or kafka.bootstrap.servers: one of the two")
        topics, pattern = options.get("subscribe"), options.get("subscribepattern")
        if topics and pattern:
            raise OptionError("give subscribe or subscribePattern, not both")
        if servers and not topics and not pattern:
            raise OptionError("reading from a broker needs subscribe or subscribePattern")
        if "recordspertask" in options and "bytespertask" in options:
            raise OptionError("give recordsPerTask or bytesPerTask, not both")
        return cls(
            path=path,
            bootstrap_servers=servers,
            topics=tuple(name.strip() for name in topics.split(",") if name.strip()) if topics else None,
            pattern=value("subscribePattern", _pattern),
            starting=value("startingOffsets", _position, "earliest"),
            ending=value("endingOffsets", _position, "latest"),
            from_ms=value("startingTimestamp", _milliseconds),
            until_ms=value("endingTimestamp", _milliseconds),
            read_committed=value("isolation", _isolation, "read_uncommitted"),
            control=value("includeControl", _flag, "false"),
            fail_on_data_loss=value("failOnDataLoss", _flag, "true"),
            records_per_task=value("recordsPerTask", positive_number),
            bytes_per_task=value("bytesPerTask", positive_number),
            max_offsets_per_trigger=value("maxOffsetsPerTrigger", positive_number),
            push_filters=value("pushFilters", _flag, "false"),
            security=security_of(security),
        )

    @property
    def narrowing(self) -> Narrowing:
        """The bounds of the timestamps."""
        return Narrowing(from_ms=self.from_ms, until_ms=self.until_ms)

    def choose(self, topics: Iterable[str], *, missing_ok: bool = False) -> list[str]:
        """The wanted ones of the topics that exist; MissingTopicError unless all named ones do, or ``missing_ok``."""
        existing = set(topics)
        missing = [name for name in self.topics or () if name not in existing]
        if missing and not missing_ok:
            raise MissingTopicError(missing)
        return sorted(name for name in existing if self.wants(name))

    def wants(self, topic: str) -> bool:
        """Whether the options name a topic, or their pattern matches it."""
        if self.topics is not None:
            return topic in self.topics
        return self.pattern is None or re.fullmatch(self.pattern, topic) is not None


def known_options(
    given: Mapping[str, str], names: Sequence[str], ignored: Set[str] = frozenset()
) -> tuple[dict[str, str], dict[str, str]]:
    """The options by their names in small letters, and the security options without ``kafka.``.

    ``ignored``: names of Spark's own options. OptionError for an option that is neither known nor ignored.
    """
    options = {name.lower(): value for name, value in given.items()}
    security = security_options(options, "kafka.")
    known = {*map(str.lower, names), *ignored, *(f"kafka.{name}" for name in security)}
    if unknown := sorted(options.keys() - known):
        listed = [*names, "kafka.security.*", "kafka.sasl.*", "kafka.ssl.*"]
        raise OptionError(f"unknown option {', '.join(unknown)}; known: {', '.join(listed)}")
    return options, security


def security_of(options: Mapping[str, str]) -> ClientSecurity:
    """Security options as a value; raises OptionError."""
    try:
        return ClientSecurity.parse(options)
    except SecurityOptionError as error:
        raise OptionError(str(error)) from None


def offset_for(position: Position, topic: str, partition: int) -> int:
    """EARLIEST, LATEST or an offset; OptionError when a position by partition leaves this one out."""
    if position == "earliest":
        return EARLIEST
    if position == "latest":
        return LATEST
    assert isinstance(position, dict)
    try:
        return position[topic][partition]
    except KeyError:
        raise OptionError(f"the offsets given by partition leave out {topic}-{partition}") from None


def _position(name: str, text: str) -> Position:
    lowered = text.strip().lower()
    if lowered == "earliest":
        return "earliest"
    if lowered == "latest":
        return "latest"
    try:
        parsed = json.loads(text)
        return {topic: {int(each): int(offset) for each, offset in parts.items()} for topic, parts in parsed.items()}
    except (ValueError, AttributeError, TypeError):
        raise OptionError(f'{name}: earliest, latest or {{"topic": {{"0": 23, "1": -2}}}}; not {text!r}') from None


def _pattern(name: str, text: str) -> str:
    try:
        return re.compile(text).pattern
    except re.error as error:
        raise OptionError(f"{name}: {error}") from None


def _milliseconds(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise OptionError(f"{name}: milliseconds since 1970, not {text!r}") from None


def positive_number(name: str, text: str) -> int:
    """An option as a number; raises OptionError."""
    if not re.fullmatch(r"\s*0*[1-9][0-9]*\s*", text):
        raise OptionError(f"{name}: a positive number, not {text!r}")
    return int(text)


def _flag(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise OptionError(f"{name}: true or false, not {text!r}")
    return text.lower() == "true"


def _isolation(name: str, text: str) -> bool:
    if text not in ("read_committed", "read_uncommitted"):
        raise OptionError(f"{name}: read_committed or read_uncommitted, not {text!r}")
    return text == "read_committed"


def check_limit(most: int | None) -> None:
    """OptionError for a limit that Spark cannot keep."""
    if most is not None and not LIMITS_KNOWN:
        raise OptionError("maxOffsetsPerTrigger: needs Spark 4.2")


def limited(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], most: int
) -> dict[TopicPartition, int]:
    """The ends of a batch with a limited number of offsets. A partition's share is in proportion to its backlog.

    A partition with a backlog advances by at least one offset if the limit allows it. So no partition starves.
    """
    behind = {key: max(last - start.get(key, last), 0) for key, last in end.items()}
    total = sum(behind.values())
    if total <= most:
        return dict(end)
    shares = {key: most * count // total for key, count in behind.items()}
    left = most - sum(shares.values())
    # The partitions that lost most by rounding get the rest.
    for key in sorted(behind, key=lambda key: most * behind[key] % total, reverse=True)[:left]:
        shares[key] += 1
    return {key: start.get(key, last) + shares[key] if behind[key] else last for key, last in end.items()}


_SOURCE = ("failOnDataLoss", *_SIZES, "startingOffsets", "startingTimestamp")
_SINK = ("transactionalId", "transactionTimeout")


@dataclass(frozen=True)
class RetryOptions:
    """The options of a retry job for `spark.readStream` and for the sink, each with the cluster and the log-in."""

    source: Mapping[str, str]
    sink: Mapping[str, str]
    security: Mapping[str, str]
    """The log-in, without the prefix ``kafka.``."""
    transactional_id: str | None
    """The beginning of the transactional ids."""
    max_offsets: int | None
    """The limit of a micro-batch."""

    @classmethod
    def parse(cls, bootstrap_servers: str, given: Mapping[str, str]) -> RetryOptions:
        """From the options of a job, whose names are not case-sensitive; raises OptionError."""
        options, security = known_options(given, [*_SOURCE, *_SINK])
        log_in = {f"kafka.{name}": value for name, value in security.items()}
        cluster = {"kafka.bootstrap.servers": bootstrap_servers, **log_in}
        source, sink = (
            {**cluster, **{name: options[name.lower()] for name in names if name.lower() in options}}
            for names in (_SOURCE, _SINK)
        )
        checked = SourceOptions.parse({**source, "subscribe": "any"})
        if "transactionTimeout" in sink:
            positive_number("transactionTimeout", sink["transactionTimeout"])
        named = sink.get("transactionalId")
        if named == "":
            raise OptionError("transactionalId: the beginning of the transactional ids, not ''")
        return cls(source, sink, security, named, checked.max_offsets_per_trigger)
