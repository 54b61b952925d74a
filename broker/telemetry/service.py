"""Client metrics of the cluster: subscriptions, the client instances of each broker, and what they pushed.

Each broker knows its own instances, as in Kafka: a client that goes on at another broker is new there.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.client_selectors import CLIENT_ID, CLIENT_SOFTWARE_NAME, CLIENT_SOFTWARE_VERSION
from odradek.broker.metadata.image import MetadataImage
from odradek.broker.telemetry.instances import Attributes, ClientInstance, ClientInstances
from odradek.broker.telemetry.pushes import KeptPushes, TelemetryPush
from odradek.broker.telemetry.subscriptions import ClientSubscription, SubscriptionTable
from odradek.protocol.compression import Codec, CompressionError, decompress
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.push_telemetry import PushTelemetryRequest
from odradek.protocol.message import ZERO_UUID
from odradek.protocol.uuids import new_uuid, uuid_to_text

_log = logging.getLogger("odradek.broker.telemetry")

_RESERVED = frozenset({ZERO_UUID, bytes(15) + b"\x01"})
"""Ids that no client may have."""


class TelemetryService:
    """Decides about GetTelemetrySubscriptions and PushTelemetry, and keeps what was pushed. Owner: the cluster."""

    def __init__(self, config: BrokerConfig, clock: BrokerClock, image: MetadataImage) -> None:
        self._config = config
        self._clock = clock
        self._table = SubscriptionTable(image)
        self._instances: dict[int, ClientInstances] = {}
        self._pushes = KeptPushes()

    @property
    def has_subscriptions(self) -> bool:
        """Whether there are subscriptions: then ApiVersions includes the telemetry APIs."""
        return len(self._table) > 0

    @property
    def max_bytes(self) -> int:
        """``telemetry.max.bytes``: the largest push."""
        return self._config.get_int("telemetry.max.bytes")

    def subscriptions_changed(self, image: MetadataImage) -> None:
        """The subscriptions have changed."""
        self._table.read(image)

    def instances(self, node_id: int) -> ClientInstances:
        """The client instances of a broker."""
        found = self._instances.get(node_id)
        if found is None:
            found = self._instances[node_id] = ClientInstances(self._table)
        return found

    def subscription(
        self, node_id: int, connection_id: str, instance_id: bytes, attributes: Attributes
    ) -> tuple[bytes, ClientSubscription]:
        """The client's instance id (a new one where it has none) and what it is asked for; KafkaError if too soon.

        ``attributes``: without the instance id.
        """
        if instance_id == ZERO_UUID:
            instance_id = new_uuid()
        instance = self._at_work(node_id, connection_id, instance_id, attributes)
        instance.check_get(self._clock.now_ms())
        instance.last_error = ErrorCode.NONE
        return instance_id, instance.subscription

    def push(self, node_id: int, connection_id: str, attributes: Attributes, request: PushTelemetryRequest) -> None:
        """Take a push, or raise the KafkaError that the client is answered."""
        if request.client_instance_id in _RESERVED:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the push has no client instance id")
        now_ms = self._clock.now_ms()
        instance = self._at_work(node_id, connection_id, request.client_instance_id, attributes)
        try:
            instance.check_push(now_ms, request, self.max_bytes)
            payload = _inflated(request, self.max_bytes) if len(request.metrics) else b""
        except KafkaError as error:
            instance.last_error = error.code
            raise
        finally:
            instance.terminating = request.terminating
        instance.last_error = ErrorCode.NONE
        if payload:
            self._keep(_push_of(instance, now_ms, node_id, payload))

    def pushes(self) -> Iterator[TelemetryPush]:
        """The pushed payloads, oldest first. New ones replace the oldest."""
        return iter(self._pushes)

    def go_on_with(self, pushes: Iterable[TelemetryPush]) -> None:
        """Replace the pushes and drop all clients, whose connections are closed."""
        self._instances.clear()
        self._pushes = KeptPushes()
        for push in pushes:
            self._pushes.add(push)

    def _at_work(self, node_id: int, connection_id: str, instance_id: bytes, attributes: Attributes) -> ClientInstance:
        return self.instances(node_id).at_work(instance_id, attributes, connection_id, self._clock.now_ms())

    def _keep(self, push: TelemetryPush) -> None:
        self._pushes.add(push)
        if _log.isEnabledFor(logging.DEBUG):
            from odradek.broker.telemetry.pushes import described

            for line in described(push):
                _log.debug("%s", line)


def _inflated(request: PushTelemetryRequest, max_bytes: int) -> bytes:
    """A payload that is too large only when inflated is an INVALID_RECORD too: Kafka inflates it where its exporter may
    fail.
    """
    try:
        return bytes(decompress(Codec(request.compression_type), request.metrics, max_bytes))
    except CompressionError as error:
        raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from None


def _push_of(instance: ClientInstance, now_ms: int, node_id: int, payload: bytes) -> TelemetryPush:
    attributes = instance.attributes
    return TelemetryPush(
        time_ms=now_ms,
        node_id=node_id,
        client_instance_id=uuid_to_text(instance.instance_id),
        client_id=attributes.get(CLIENT_ID),
        client_software_name=attributes.get(CLIENT_SOFTWARE_NAME) or "",
        client_software_version=attributes.get(CLIENT_SOFTWARE_VERSION) or "",
        terminating=instance.terminating,
        payload=payload,
    )
