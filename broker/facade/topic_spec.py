"""A topic as a user asks for it, in code or on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partitions.topic import Topic


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic to create. ``replication_factor`` -1 takes the broker's default."""

    partitions: int = 1
    replication_factor: int = -1
    config: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, value: int | Mapping[str, Any] | TopicSpec) -> TopicSpec:
        """From a number of partitions, or a mapping with ``partitions``, ``replication_factor``, ``config``."""
        if isinstance(value, TopicSpec):
            return value
        if isinstance(value, int):
            return cls(partitions=value)
        known = {"partitions", "replication_factor", "config"}
        if unknown := set(value) - known:
            raise ValueError(f"a topic has {', '.join(sorted(known))}; not {', '.join(sorted(unknown))}")
        return cls(
            partitions=value.get("partitions", 1),
            replication_factor=value.get("replication_factor", -1),
            config=config_texts(value.get("config", {})),
        )


def config_texts(config: Mapping[str, Any]) -> dict[str, str]:
    """Config values as the text that Kafka's files hold: ``True`` is ``true``, a list is joined by commas."""
    return {name: _config_text(value) for name, value in config.items()}


def _config_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(_config_text(each) for each in value)
    return str(value)


def create_topic(cluster: Cluster, name: str, spec: TopicSpec) -> Topic:
    """Create a topic from its spec (in the broker's thread)."""
    return cluster.create_topic(
        name,
        partitions=spec.partitions,
        replication_factor=spec.replication_factor,
        configs=dict(spec.config),
    )
