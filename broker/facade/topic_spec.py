"""A topic as a user asks for it, in code or on the command line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partitions.partition_registry import Topic

_KEYS = {"partitions", "replication_factor", "config"}


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic to create. ``replication_factor`` -1 takes the broker's default."""

    partitions: int = 1
    replication_factor: int = -1
    config: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, value: int | Mapping[str, Any] | TopicSpec) -> TopicSpec:
        """From a number of partitions, or a mapping with ``partitions``, ``replication_factor``, ``config``.

        TypeError and ValueError for anything else.
        """
        if isinstance(value, TopicSpec):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return cls(partitions=value)
        if not isinstance(value, Mapping):
            raise TypeError(f"expected a number of partitions, a mapping or a TopicSpec, not {value!r}")
        if unknown := set(value) - _KEYS:
            raise ValueError(f"a topic has {', '.join(sorted(_KEYS))}; not {', '.join(sorted(unknown))}")
        return cls(
            partitions=value.get("partitions", 1),
            replication_factor=value.get("replication_factor", -1),
            config=config_texts(value.get("config", {})),
        )


Topics = Mapping[str, "int | Mapping[str, Any] | TopicSpec"] | Collection[str]
"""Topics as a user asks for them: name -> what :meth:`TopicSpec.of` takes, or names of topics with one partition."""


def topic_specs(topics: Topics) -> dict[str, TopicSpec]:
    """The topics by name; TypeError or ValueError, which name the topic, for what makes no sense."""
    if isinstance(topics, str):
        raise TypeError(f"topics={topics!r}: expected names in a list, or a mapping from names to partitions")
    if not isinstance(topics, Mapping):
        names = list(topics)
        if len(set(names)) < len(names):
            raise ValueError(f"topics={names}: a topic is named twice")
        return {name: TopicSpec() for name in names}
    specs = {}
    for name, value in topics.items():
        try:
            specs[name] = TopicSpec.of(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"topic {name!r}: {error}") from None
    return specs


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
    """Create a topic from its spec (in the broker's thread); KafkaError, with the topic's name, as Kafka refuses it."""
    try:
        return cluster.create_topic(
            name,
            partitions=spec.partitions,
            replication_factor=spec.replication_factor,
            configs=dict(spec.config),
        )
    except KafkaError as error:
        raise KafkaError(
            error.code, f"topic {name!r}: {error.message or 'refused'}{_config_hint(spec, cluster)}"
        ) from None


def _config_hint(spec: TopicSpec, cluster: Cluster) -> str:
    """What a misspelt config of the topic may have been meant to be."""
    from odradek.broker.config.suggestion import did_you_mean

    known = cluster.config.keys.topic
    return "".join(did_you_mean(name, known) for name in spec.config if name not in known)
