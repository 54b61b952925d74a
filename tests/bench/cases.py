"""The rows that the load program measures: case, title, unit, and which of its figures counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.share_fetch import ShareFetchRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from tests.bench.load_program import Measured

MODERN = frozenset({ConsumerGroupHeartbeatRequest.API_KEY})
SHARE = frozenset({ShareFetchRequest.API_KEY})
STREAMS = frozenset({StreamsGroupHeartbeatRequest.API_KEY})


def rate(measured: Measured) -> float:
    return measured.per_second


def megabytes(measured: Measured) -> float:
    return measured.megabytes_per_second


def median_ms(measured: Measured) -> float:
    return measured.p50_us / 1000


@dataclass(frozen=True, slots=True)
class Case:
    """A case of the load program and which of its figures the row shows."""

    name: str
    title: str
    unit: str = "requests/s"
    figure: Callable[[Measured], float] = rate
    lower_is_better: bool = False
    apis: frozenset[int] = field(default=frozenset())
    """Keys of the APIs that not every broker serves."""


def time_case(name: str, title: str, apis: frozenset[int] = frozenset()) -> Case:
    return Case(name, title, "ms", median_ms, lower_is_better=True, apis=apis)


CASES = (
    Case("api-versions", "ApiVersions, 1 connection"),
    Case("produce-1", "produce one record, 1 connection"),
    Case("produce-50", "produce one record, 50 connections"),
    Case("fetch-50", "fetch one record, 50 connections"),
    Case("bulk-in", "produce 900 KB batches, 4 connections", "MB/s", megabytes),
    Case("bulk-out", "fetch 4 MB, 4 connections", "MB/s", megabytes),
    time_case("latency", "produce to waiting consumer, median"),
    Case("metadata", "metadata of 1,000 partitions"),
    Case("commit", "offset commits, 1 connection", "commits/s"),
    Case("share-1", "share fetch and accept, one record of ten", apis=SHARE),
    Case("share-batch", "share fetch and accept, batches of 100", apis=SHARE),
    Case("transaction", "transactions of one record", "commits/s"),
    time_case("join-1", "join to assigned, group of 1, median"),
    time_case("join-10", "join to assigned, group of 10, median"),
    time_case("join-100", "join to assigned, group of 100, median"),
    time_case("modern-join-1", "the same, consumer group of 1", MODERN),
    time_case("modern-join-10", "the same, consumer group of 10", MODERN),
    time_case("modern-join-100", "the same, consumer group of 100", MODERN),
    Case("modern-hold", "heartbeats of 1,000 consumer groups", apis=MODERN),
    Case("streams-hold", "heartbeats of 1,000 streams groups", apis=STREAMS),
)

HOLD = Case("hold", "heartbeats of 1,000 groups, 10 connections")
"""Measured together with the memory that the groups take."""

SECURE = ("produce-1", "produce-50", "fetch-50", "bulk-in", "bulk-out")
"""Cases that are also measured over TLS; `--only tls` chooses them."""

LOGINS = (
    Case("login-plain", "log-ins by PLAIN, 8 at a time", "log-ins/s"),
    Case("login-scram", "log-ins by SCRAM-SHA-256, 8 at a time", "log-ins/s"),
    Case("produce-1", "1,000 ACLs: produce one record, 1 connection"),
    Case("produce-50", "1,000 ACLs: produce one record, 50 connections"),
)
"""Cases of brokers with log-ins and an authorizer; `--only sasl` chooses them."""
