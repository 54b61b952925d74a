"""Client-metrics subscriptions: what an administrator wants to know, of which clients, and how often.

They are the configs of CLIENT_METRICS resources in the metadata image. A client gets all that match it, as one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from odradek.broker.config.broker_config import ConfigError
from odradek.broker.config.client_selectors import IllegalSelectorError, Selectors, matches, parse_selectors
from odradek.broker.config.definition import ConfigKey, keys_of
from odradek.broker.metadata.image import MetadataImage, ResourceType
from odradek.protocol.checksum import crc32c
from odradek.protocol.java_maps import HashTable, hash_of_text, hash_of_uuid, slots_of_copy

ALL_METRICS = "*"
DEFAULT_INTERVAL_MS = 300_000
"""A client's push interval where no subscription asks for a shorter one."""

_log = logging.getLogger("odradek.broker.telemetry")


@dataclass(frozen=True, slots=True)
class Subscription:
    """One CLIENT_METRICS resource. ``metrics``: prefixes of metric names; ``*`` for all."""

    name: str
    metrics: tuple[str, ...]
    interval_ms: int
    selectors: Selectors


@dataclass(frozen=True, slots=True)
class ClientSubscription:
    """The subscription of one client. ``version``: of the `SubscriptionTable` that it was made from."""

    version: int
    subscription_id: int
    metrics: tuple[str, ...]
    interval_ms: int


class SubscriptionTable:
    """The subscriptions of the cluster. Owner: `TelemetryService`.

    ``version`` counts the changes, so that whoever keeps a `ClientSubscription` sees whether it is still true.
    """

    __slots__ = ("_subscriptions", "version")

    def __init__(self, image: MetadataImage) -> None:
        self.version = 0
        self._subscriptions: list[Subscription] = []
        self.read(image)

    def __len__(self) -> int:
        return len(self._subscriptions)

    def read(self, image: MetadataImage) -> None:
        """Take the subscriptions as the image has them now."""
        self.version += 1
        names = image.names_with_configs(ResourceType.CLIENT_METRICS)
        read = (_subscription(name, image.configs_of(ResourceType.CLIENT_METRICS, name)) for name in names)
        self._subscriptions = [subscription for subscription in read if subscription is not None]

    def for_client(self, instance_id: bytes, attributes: Mapping[str, str | None]) -> ClientSubscription:
        """The subscription of a client: the metrics of all subscriptions that match it, at the shortest interval."""
        interval_ms = DEFAULT_INTERVAL_MS
        wanted: HashTable = HashTable(hash_of_text)
        for subscription in self._subscriptions:
            if matches(subscription.selectors, attributes):
                interval_ms = min(interval_ms, subscription.interval_ms)
                for prefix in _in_set_order(subscription.metrics):
                    wanted.add(prefix)
        metrics = (ALL_METRICS,) if ALL_METRICS in wanted else tuple(wanted)
        return ClientSubscription(
            self.version, _subscription_id(metrics, interval_ms, instance_id), metrics, interval_ms
        )


def _in_set_order(metrics: tuple[str, ...]) -> HashTable:
    return HashTable(hash_of_text, metrics, slots_of_copy(len(metrics)))


def _subscription(name: str, configs: Mapping[str, str]) -> Subscription | None:
    """A resource as a subscription. The log of a real Kafka may hold patterns that Python's ``re`` refuses."""
    keys = keys_of("client_metrics")
    try:
        return Subscription(
            name,
            _list(keys["metrics"], configs),
            int(configs.get("interval.ms", DEFAULT_INTERVAL_MS)),
            parse_selectors(_list(keys["match"], configs)),
        )
    except (ConfigError, IllegalSelectorError, ValueError) as error:
        _log.warning("client metrics subscription %s is passed over: %s", name, error)
        return None


def _list(key: ConfigKey, configs: Mapping[str, str]) -> tuple[str, ...]:
    value = key.parse(configs.get(key.name, ""))
    return value if isinstance(value, tuple) else ()


def _subscription_id(metrics: tuple[str, ...], interval_ms: int, instance_id: bytes) -> int:
    """Kafka's: the checksum of the metrics as Java writes a set, and the interval, mixed with the client's id."""
    text = f"[{', '.join(metrics)}]{interval_ms}"
    mixed = crc32c(text.encode()) ^ hash_of_uuid(instance_id)
    return mixed - (1 << 32) if mixed & (1 << 31) else mixed
