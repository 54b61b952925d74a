"""Conversations of raw requests about client metrics (KIP-714), written down so that two brokers can be compared.

A transcript is a list of [what was asked, what came back]. Client instance ids are random, and a subscription id is a
checksum mixed with the hash of the instance id: the transcript has the checksum. The transcripts of a real Kafka 4.4.0
lie in ``tests/vectors/telemetry_conversations.json.gz``.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from odradek.protocol.compression import Codec, compress
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.push_telemetry import PushTelemetryRequest
from odradek.protocol.java_maps import hash_of_uuid
from odradek.protocol.message import ZERO_UUID
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until
from tests.scenarios.transcripts import conversations, transcriber

CLIENT_METRICS = 16
MAX_BYTES = 1_048_576
"""The default of ``telemetry.max.bytes``."""
SOFTWARE = ("telemetry-wire", "1.2.3")
Transcript = list[Any]


class TelemetryConversation:
    """Clients of one broker, the subscriptions that they meet, and the transcript."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._secret = uuid.uuid4().hex[:12]
        self._clients: dict[str, WireClient] = {}
        self._subscriptions: set[str] = set()
        self.transcript: Transcript = []

    def client(self, who: str) -> WireClient:
        """The connection of a client; its client id has a random end, so that patterns can be for it alone."""
        client = self._clients.get(who)
        if client is None:
            client = WireClient(*self._address, client_id=f"{who}-{self._secret}", timeout_s=60)
            client.request(ApiVersionsRequest(*SOFTWARE), 3)
            self._clients[who] = client
        return client

    def hang_up(self, who: str) -> None:
        self._clients.pop(who).close()

    def close(self) -> None:
        for name in list(self._subscriptions):
            self.subscribe(name)
        for client in self._clients.values():
            client.close()

    # -- subscriptions

    def alter(self, name: str, configs: Mapping[str, str | None], *, validate_only: bool = False) -> Any:
        rows = [AlterableConfig(key, 1 if value is None else 0, value) for key, value in configs.items()]
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(CLIENT_METRICS, name, rows)], validate_only)
        return self.client("setup").request(request, 1).responses[0]

    def subscribe(self, name: str, *, who: str | None = None, **configs: str) -> None:
        """Set a subscription to exactly these configs, for one client; nothing deletes it. Waits until it is known."""
        keys = ("metrics", "interval_ms", "match")
        if who is not None:
            configs["match"] = f"client_id={who}-{self._secret}"
        values = {key.replace("_", "."): configs.get(key) for key in keys}
        assert self.alter(f"{name}-{self._secret}", values).error_code == 0
        (self._subscriptions.add if configs else self._subscriptions.discard)(name)

    def is_asked(self, who: str, metrics: list[str], interval_ms: int) -> None:
        """Wait until a client that comes now is asked for this, and write it down."""

        def asked() -> bool:
            answer = self.client(who).request(GetTelemetrySubscriptionsRequest(uuid.uuid4().bytes), 0)
            return bool(sorted(answer.requested_metrics) == sorted(metrics) and answer.push_interval_ms == interval_ms)

        wait_until(f"{who} to be asked for {metrics} each {interval_ms} ms", asked)
        self.get(who, uuid.uuid4().bytes)

    # -- requests

    def get(self, who: str, instance_id: bytes = ZERO_UUID) -> Any:
        answer = self.client(who).request(GetTelemetrySubscriptionsRequest(instance_id), 0)
        found = answer.client_instance_id
        same = "its own" if found == instance_id else "none" if found == ZERO_UUID else "a new one"
        self.transcript.append(
            [
                f"{who} gets",
                {
                    "error": ErrorCode(answer.error_code).name,
                    "throttle": answer.throttle_time_ms,
                    "instance id": same,
                    "checksum": (answer.subscription_id & 0xFFFFFFFF) ^ hash_of_uuid(found),
                    "compression": list(answer.accepted_compression_types),
                    "interval": answer.push_interval_ms,
                    "max bytes": answer.telemetry_max_bytes,
                    "delta": answer.delta_temporality,
                    "metrics": list(answer.requested_metrics),
                },
            ]
        )
        return answer

    def push(
        self, who: str, instance_id: bytes, subscription_id: int, metrics: bytes = b"", *, what: str = "", **other: Any
    ) -> None:
        request = PushTelemetryRequest(
            instance_id, subscription_id, other.get("terminating", False), other.get("compression", 0), metrics
        )
        answer = self.client(who).request(request, 0)
        about = [f"{who} pushes {what}".rstrip(), *(f"{key} {value}" for key, value in sorted(other.items()))]
        self.transcript.append([", ".join(about), [ErrorCode(answer.error_code).name, answer.throttle_time_ms]])

    def begun(self, who: str) -> tuple[bytes, int]:
        """A new client instance with its subscription: (instance id, subscription id)."""
        answer = self.client(who).request(GetTelemetrySubscriptionsRequest(ZERO_UUID), 0)
        assert answer.error_code == 0
        return answer.client_instance_id, answer.subscription_id


def lifecycle(c: TelemetryConversation) -> None:
    """From the first Get to what comes after a terminating push."""
    answer = c.get("a")
    mine, subscription = answer.client_instance_id, answer.subscription_id
    c.get("a", mine)
    c.push("a", mine, subscription, what="in time")
    c.push("a", mine, subscription, what="too soon")
    c.get("a", mine)
    c.push("a", mine, subscription, terminating=True)
    c.push("a", mine, subscription, what="after its end", terminating=True)
    c.push("a", mine, subscription, what="after its end")
    c.push("a", mine, subscription, what="after that")
    c.get("a", mine)
    c.get("a", uuid.uuid4().bytes)


def without_get(c: TelemetryConversation) -> None:
    """Pushes of a client that this broker has never met."""
    _, subscription = c.begun("a")
    stranger = uuid.uuid4().bytes
    c.push("a", stranger, subscription, what="with another's subscription")
    answer = c.get("a", stranger)
    c.push("a", stranger, answer.subscription_id, what="after asking again")
    c.push("a", ZERO_UUID, subscription, what="without an id")
    c.push("a", bytes(15) + b"\1", subscription, what="with a reserved id")
    c.get("a", bytes(15) + b"\1")


def asking_again(c: TelemetryConversation) -> None:
    """After which errors a client may ask for its subscription at once."""
    for what, change, compression, size in (
        ("of another subscription", 1, 0, 0),
        ("in an unknown compression", 0, 5, 0),
        ("in a negative compression", 0, -1, 0),
        ("of too many bytes", 0, 0, MAX_BYTES + 1),
        ("of the most bytes", 0, 0, MAX_BYTES),
        ("of garbage", 0, 1, 9),
    ):
        mine, subscription = c.begun("a")
        c.push("a", mine, subscription ^ change, bytes(size), what=what, compression=compression)
        c.get("a", mine)
        c.get("a", mine)
        c.push("a", mine, subscription, what="then")


def payloads(c: TelemetryConversation) -> None:
    """What is taken as metrics: anything that inflates to no more than the limit."""
    body = b"no metrics at all, but bytes " * 40
    for codec in Codec:
        packed = compress(codec, body)
        bomb = compress(codec, bytes(MAX_BYTES + 1))
        fits = compress(codec, bytes(MAX_BYTES))
        cases = {
            "nothing": b"",
            "bytes": packed,
            "cut bytes": packed[: len(packed) // 2],
            "garbage": b"\xff\x00garbage\x80" * 5,
            "what fits when inflated": fits,
            "a bomb": bomb,
        }
        for what, metrics in cases.items():
            mine, subscription = c.begun("a")
            c.push("a", mine, subscription, metrics, what=what, compression=int(codec))


def subscriptions(c: TelemetryConversation) -> None:
    """What clients are asked for when subscriptions come, change, overlap and go."""
    c.get("a")
    c.subscribe("s1", who="a", metrics="org.apache.kafka.producer,org.apache.kafka.consumer.fetch", interval_ms="60000")
    c.is_asked("a", ["org.apache.kafka.producer", "org.apache.kafka.consumer.fetch"], 60_000)
    c.get("b")
    c.subscribe("s2", who="a", metrics="org.apache.kafka.consumer.fetch,org.b,org.c,org.d", interval_ms="900000")
    both = ["org.apache.kafka.producer", "org.apache.kafka.consumer.fetch", "org.b", "org.c", "org.d"]
    c.is_asked("a", both, 60_000)
    c.subscribe("s1", who="a", metrics="org.apache.kafka.producer", interval_ms="3600000")
    c.is_asked("a", ["org.apache.kafka.producer", *both[1:]], 300_000)
    c.subscribe("s3", who="a", metrics="*", interval_ms="100")
    c.is_asked("a", ["*"], 100)
    c.subscribe("s3")
    c.is_asked("a", both, 300_000)
    many = [f"org.apache.kafka.{number}.metric" for number in range(30)]
    c.subscribe("s2", who="a", metrics=",".join(many))
    c.is_asked("a", ["org.apache.kafka.producer", *many], 300_000)
    c.subscribe("s1", who="a", interval_ms="50000")
    c.is_asked("a", many, 50_000)
    c.subscribe("s1")
    c.subscribe("s2")
    c.is_asked("a", [], 300_000)


def changes(c: TelemetryConversation) -> None:
    """A client that waits for its interval is told of a changed subscription at once."""
    c.subscribe("s1", who="a", metrics="org.x")
    c.is_asked("a", ["org.x"], 300_000)
    first = c.get("a")
    c.push("a", first.client_instance_id, first.subscription_id, what="in time")
    c.subscribe("s1", who="a", metrics="org.y")
    c.is_asked("b", [], 300_000)
    c.is_asked("a", ["org.y"], 300_000)
    c.push("a", first.client_instance_id, first.subscription_id, what="of the old subscription")
    second = c.get("a", first.client_instance_id)
    c.push("a", first.client_instance_id, second.subscription_id, what="of the new one")
    c.subscribe("s2", metrics="org.z", match="client_id=nobody")
    c.subscribe("s1", who="a", metrics="org.q")
    c.is_asked("a", ["org.q"], 300_000)
    c.push("a", first.client_instance_id, second.subscription_id, what="too late", terminating=True)


def matching(c: TelemetryConversation) -> None:
    """Which attributes of a client a pattern can be about; it must match the whole of it."""
    address = "client_source_address=127\\.0\\.0\\.1"
    name, version = "client_software_name=telemetry-w.*", "client_software_version=1\\.2\\.\\d"
    only = f"client_id=a-{c._secret}"
    patterns = {
        "address": f"{address},{only}",
        "software": f"{name},{version},{only}",
        "part of a name": f"client_software_name=telemetry,{only}",
        "port": f"client_source_port=\\d+,{only}",
        "instance id": f"client_instance_id=[\\w-]{{22}},{only}",
        "the last of two": f"client_id=nobody,{only}",
        "blanks": f" client_software_name = telemetry-wire , {only} ",
        "an empty end": f"client_software_name=telemetry-wire=,{only}",
    }
    for number, (what, match) in enumerate(patterns.items()):
        c.transcript.append([what, match.replace(c._secret, "<secret>")])
        c.subscribe("s1", metrics=f"org.m{number}", match=match)
        c.subscribe("s2", metrics=f"org.all{number}", match=only)
        expected = [f"org.all{number}"] if what == "part of a name" else [f"org.all{number}", f"org.m{number}"]
        c.is_asked("a", expected, 300_000)


def illegal_patterns(c: TelemetryConversation) -> None:
    """Patterns that are refused."""
    for match in (
        "client_id=a=b",
        "client_id=",
        "client_id=a=",
        "client_id=a==",
        "=a",
        "=",
        "client_id",
        "client-id=a",
        "client_id=(",
        "client_id= ",
        "client_id=a,client_id=a",
        "client_id=a,,client_source_port=1",
    ):
        answer = c.alter("checked", {"match": match}, validate_only=True)
        c.transcript.append([match, [ErrorCode(answer.error_code).name, answer.error_message]])


def hanging_up(c: TelemetryConversation) -> None:
    """A client instance ends with the connection that began it."""
    mine, subscription = c.begun("a")
    c.client("b")
    c.push("b", mine, subscription, what="over another connection")
    c.hang_up("b")
    c.get("a", mine)
    c.hang_up("a")
    request = GetTelemetrySubscriptionsRequest(mine)
    wait_until("the instance to be forgotten", lambda: c.client("c").request(request, 0).error_code == 0)
    c.get("c", mine)


CONVERSATIONS = conversations(__name__)
transcribe = transcriber(TelemetryConversation, CONVERSATIONS)
