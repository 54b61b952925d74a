"""Followers of the image: the log of changes, and the configuration in force."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.metadata.image import NO_LEADER, MetadataDelta, MetadataImage, PartitionRegistration, ResourceType

_log = logging.getLogger("odradek.broker.controller")

# -- Logs the changes of the cluster.

_AT_ONCE = 20
"""Lines about one change. A change of more (a start with many topics) is summed up."""


def announce(delta: MetadataDelta, image: MetadataImage) -> None:
    """Log a change at INFO; see `odradek.broker.controller.controller.Publisher`."""
    if not _log.isEnabledFor(logging.INFO):
        return
    lines = list(_lines(delta, image))
    for line in lines[:_AT_ONCE]:
        _log.info("%s", line)
    if len(lines) > _AT_ONCE:
        _log.info("and %d more changes; the cluster has %d topics", len(lines) - _AT_ONCE, len(image.topics))


def _lines(delta: MetadataDelta, image: MetadataImage) -> Iterator[str]:
    for topic in delta.created.values():
        count = len(topic.partitions)
        yield f"topic {topic.name} is created: {count} partition{'s' if count > 1 else ''}"
    for topic in delta.deleted.values():
        yield f"topic {topic.name} is deleted"
    for topic_id in delta.grown:
        grown = image.topics_by_id[topic_id]
        yield f"topic {grown.name} has {len(grown.partitions)} partitions now"
    for (topic_id, index), before in delta.moved.items():
        moved = image.topics_by_id.get(topic_id)
        if moved is not None:
            yield from _moved(f"{moved.name}-{index}", before, moved.partitions[index])
    yield from _configs(delta, image)
    for number, registered in delta.brokers.items():
        broker = image.brokers.get(number)
        if broker is not None and broker.fenced != (registered is None or registered.fenced):
            yield f"broker {number} is {'fenced' if broker.fenced else 'up'}"


def _moved(name: str, before: PartitionRegistration, now: PartitionRegistration) -> Iterator[str]:
    if before.leader != now.leader:
        led = "has no leader" if now.leader == NO_LEADER else f"is led by broker {now.leader}"
        yield f"{name} {led}, epoch {now.leader_epoch}, in sync {list(now.isr)}"
    elif before.replicas != now.replicas:
        yield f"{name} has the replicas {list(now.replicas)}"


def _configs(delta: MetadataDelta, image: MetadataImage) -> Iterator[str]:
    created = {topic.name for topic in delta.created.values()}
    for (kind, name), before in delta.configs.items():
        now = image.configs_of(kind, name)
        changed = {key: now.get(key) for key in {*before, *now} if before.get(key) != now.get(key)}
        if changed:
            whose = f"{ResourceType(kind).name.lower()} {name or 'default'}{' at first' if name in created else ''}"
            yield f"configs of {whose}: {', '.join(_config(kind, *pair) for pair in sorted(changed.items()))}"


def _config(kind: int, name: str, value: str | None) -> str:
    """A config and its value; the value of a broker's config may be a secret."""
    if value is None:
        return f"{name} back to its default"
    return f"{name} changed" if kind == ResourceType.BROKER else f"{name}={value}"


# -- The dynamic configs of brokers: from the metadata image into the configuration in force.


class BrokerConfigPublisher:
    """Keeps the dynamic layers of a `BrokerConfig` as the image has them. Owner: the cluster.

    It may have unknown names, for example of plugins: they are kept as they are.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        for kind, name in delta.configs:
            if kind == ResourceType.BROKER:
                values = self._known(image, name)
                self._config.set_dynamic(int(name) if name else None, values)
                if name:
                    for each in self._config.reconfigurables:
                        each.apply(int(name))

    def _known(self, image: MetadataImage, resource: str) -> dict[str, str]:
        known: dict[str, str] = {}
        for name, text in image.configs_of(ResourceType.BROKER, resource).items():
            key = self._config.keys.find(name)
            try:
                known[name] = text if key is None else key.normal(text)
            except ConfigError as error:
                _log.warning("broker config %s in the metadata log is passed over: %s", name, error)
        return known
