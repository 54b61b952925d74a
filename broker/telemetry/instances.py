"""Client instances of one broker: who asked for a subscription, and when the next request may come.

The rules are those of a Kafka 4.4.0 broker. All times are the broker's clock's, in milliseconds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from odradek.broker.config.client_selectors import CLIENT_INSTANCE_ID
from odradek.broker.telemetry.subscriptions import ClientSubscription, SubscriptionTable
from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.push_telemetry import PushTelemetryRequest
from odradek.protocol.uuids import uuid_to_text

MAX_INSTANCES = 16_384
"""The size of Kafka's cache. A new client replaces the one that was silent longest."""
_KEPT_MS = 60_000
_KEPT_INTERVALS = 3
_ASKS_AGAIN_AT_ONCE = frozenset({ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE})
_CODECS = frozenset(int(codec) for codec in Codec)

Attributes = Mapping[str, str | None]
"""A client's selectors (`odradek.broker.config.client_selectors`); None for what it did not tell."""


class ClientInstance:
    """One client at one broker, from its first request until it expires or its connection closes."""

    __slots__ = (
        "attributes",
        "expires_ms",
        "instance_id",
        "last_error",
        "last_get_ms",
        "last_push_ms",
        "subscription",
        "terminating",
    )

    def __init__(self, instance_id: bytes, attributes: Attributes, subscription: ClientSubscription) -> None:
        self.instance_id = instance_id
        self.attributes = attributes
        self.subscription = subscription
        self.last_get_ms = 0
        self.last_push_ms = 0
        self.last_error = ErrorCode.NONE
        self.terminating = False
        self.expires_ms = 0

    def check_get(self, now_ms: int) -> None:
        """Raise THROTTLING_QUOTA_EXCEEDED if the client asks again too soon, unless it was just told to ask again."""
        if now_ms - max(self.last_get_ms, self.last_push_ms) >= self.subscription.interval_ms:
            self.last_get_ms = now_ms
        elif self.last_error not in _ASKS_AGAIN_AT_ONCE:
            raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "asked before the push interval was over")

    def check_push(self, now_ms: int, request: PushTelemetryRequest, max_bytes: int) -> None:
        """KafkaError for a push that is refused, in Kafka's order of checks."""
        if self.terminating:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the client said that its last push was its last")
        if not self._is_time_to_push(now_ms) and not request.terminating:
            raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "pushed before the push interval was over")
        if (number := request.subscription_id) != self.subscription.subscription_id:
            raise KafkaError(ErrorCode.UNKNOWN_SUBSCRIPTION_ID, f"the client has no subscription {number}")
        if request.compression_type not in _CODECS:
            raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"no compression type {request.compression_type}")
        if (size := len(request.metrics)) > max_bytes:
            raise KafkaError(ErrorCode.TELEMETRY_TOO_LARGE, f"{size} bytes, telemetry.max.bytes is {max_bytes}")

    def _is_time_to_push(self, now_ms: int) -> bool:
        """A push right after a Get is in time: clients add jitter to their first interval."""
        in_time = self.last_get_ms > self.last_push_ms or now_ms - self.last_push_ms >= self.subscription.interval_ms
        if in_time:
            self.last_push_ms = now_ms
        return in_time


class ClientInstances:
    """The client instances of one broker, those last heard of at the end. Owner: `TelemetryService`.

    Nothing runs for a client that is idle: an instance that has expired is dropped when anybody looks at it.
    """

    __slots__ = ("_instances", "_of_connection", "_table")

    def __init__(self, table: SubscriptionTable) -> None:
        self._table = table
        self._instances: OrderedDict[bytes, ClientInstance] = OrderedDict()
        self._of_connection: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._instances)

    def find(self, instance_id: bytes, now_ms: int) -> ClientInstance | None:
        """The instance with this id, unless it has expired."""
        instance = self._instances.get(instance_id)
        if instance is not None and instance.expires_ms <= now_ms:
            del self._instances[instance_id]
            return None
        return instance

    def at_work(self, instance_id: bytes, attributes: Attributes, connection_id: str, now_ms: int) -> ClientInstance:
        """The instance of a request. It starts again if the subscriptions have changed since its last one."""
        instance = self.find(instance_id, now_ms)
        if instance is None or instance.subscription.version != self._table.version:
            known = attributes if instance is None else instance.attributes
            known = {**known, CLIENT_INSTANCE_ID: uuid_to_text(instance_id)}
            instance = ClientInstance(instance_id, known, self._table.for_client(instance_id, known))
            self._add(instance, connection_id)
        self._instances.move_to_end(instance_id)
        instance.expires_ms = now_ms + max(_KEPT_MS, _KEPT_INTERVALS * instance.subscription.interval_ms)
        return instance

    def _add(self, instance: ClientInstance, connection_id: str) -> None:
        self._instances[instance.instance_id] = instance
        self._of_connection[connection_id] = instance.instance_id
        if len(self._instances) > MAX_INSTANCES:
            self._instances.popitem(last=False)

    def connection_closed(self, connection_id: str) -> None:
        """Forget the instance that this connection was the last to begin."""
        instance_id = self._of_connection.pop(connection_id, None)
        if instance_id is not None:
            self._instances.pop(instance_id, None)
