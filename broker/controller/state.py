"""What the rules of the cluster's metadata read, and how the controller is asked to follow one.

A rule is a function of a module `*_control`. It reads `MetadataState` and its arguments, changes nothing, and returns
the records of its decision with the reply, or raises the error that Kafka would answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeAlias, TypeVar

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.feature_levels import MIN_INSYNC_REPLICAS, supported_features
from odradek.broker.metadata.image import MetadataImage
from odradek.broker.releases.release import Release
from odradek.broker.runtime.machine import R
from odradek.protocol.errors import KafkaError, as_value
from odradek.protocol.message import MetadataRecord

P = ParamSpec("P")
T = TypeVar("T")
Decision: TypeAlias = tuple[Sequence[MetadataRecord], R]
PartitionKey = tuple[str, int]
"""Topic name and index."""


def _never(topic_id: bytes, index: int) -> bool:
    """All replicas have the same log."""
    return False


class MetadataState:
    """The image, the configuration and what else decisions depend on. Owner: the controller's machine.

    `controller_id`: the controller that decides, by its own defaults. `placed`: partitions that were placed so far;
    leaders of new ones go round the brokers. `replicas_differ(topic_id, index)`: where replicas of a partition have not
    all the same log, leaders tell who is in sync (`change_isr`). `kraft_version` is no record of the metadata log but
    one of the quorum's own (KIP-853). `quorum_is_in_memory`: what the metadata log has of its voters may change.
    """

    def __init__(self, image: MetadataImage, config: BrokerConfig, controller_id: int) -> None:
        self.image = image
        self.config = config
        self.controller_id = controller_id
        self.now_ms = 0
        self.kraft_version = 1
        self.quorum_is_in_memory = True
        self.replicas_differ: Callable[[bytes, int], bool] = _never
        self.placed = 0

    @property
    def release(self) -> Release:
        """The release of the controller that decides."""
        return self.config.release_of(self.controller_id)

    def supported(self, node_id: int) -> Mapping[str, tuple[int, int]]:
        """Lowest and highest level of each feature that a node supports."""
        return supported_features(self.config, self.config.release_of(node_id), node_id)

    def default_min_isr(self) -> str:
        """The value of min.insync.replicas that the nodes are started with."""
        return str(int(self.config.static_of().get(MIN_INSYNC_REPLICAS, "1")))


class FollowRule:
    """The controller's command: to follow a rule with these arguments. `Controller.ask` makes it."""

    __slots__ = ("arguments", "named", "rule")
    reply: Any

    def __init__(self, rule: Callable[..., Decision[Any]], arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        self.rule = rule
        self.arguments = arguments
        self.named = named

    def decide(self, state: MetadataState) -> Decision[Any]:
        """The records and the reply."""
        return self.rule(state, *self.arguments, **self.named)

    def __repr__(self) -> str:
        return f"FollowRule({self.rule.__name__})"  # arguments may be secrets


def each_by_itself(
    items: Iterable[T], decide: Callable[[T], Sequence[MetadataRecord]]
) -> tuple[list[MetadataRecord], list[KafkaError | None]]:
    """The records of the items that are not refused, and for each item in order its error or None."""
    records: list[MetadataRecord] = []
    results: list[KafkaError | None] = []
    for item in items:
        try:
            records += decide(item)
        except KafkaError as error:
            results.append(as_value(error))
        else:
            results.append(None)
    return records, results
