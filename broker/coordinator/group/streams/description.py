"""Descriptions of topologies for people (KIP-1331), as the members of a streams group send them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from odradek.protocol.errors import ErrorCode, KafkaError

SOURCE, PROCESSOR, SINK = 1, 2, 3

NOT_STORED = -1
"""In place of a topology's epoch: there is no description."""
UNCERTAIN = -2
"""In place of a topology's epoch: a description is being stored or deleted."""


class DescriptionEpochs(NamedTuple):
    """The epoch of the topology whose description is stored, and of the last one whose description was refused."""

    stored: int = NOT_STORED
    failed: int = NOT_STORED


NO_DESCRIPTION = DescriptionEpochs()


class Node(NamedTuple):
    """A node of a topology; ``kind`` is `SOURCE`, `PROCESSOR` or `SINK`."""

    name: str
    kind: int
    source_topics: Sequence[str]
    sink_topic: str | None
    stores: Sequence[str]
    successors: Sequence[str]


class GlobalStore(NamedTuple):
    """A store that each instance of the application has as a whole."""

    source: Node
    processor: Node


class Description(NamedTuple):
    """``subtopologies``: their ids, each with its nodes."""

    subtopologies: Sequence[tuple[str, Sequence[Node]]]
    global_stores: Sequence[GlobalStore]


def as_stored(description: Description) -> Description:
    """The description with the fields that its kinds of nodes have; no name comes twice in a field.

    Raises INVALID_REQUEST for a kind of node that does not exist, or is not where it may be.
    """
    return Description(
        [(name, [_stored_node(node) for node in nodes]) for name, nodes in description.subtopologies],
        [_stored_global(store) for store in description.global_stores],
    )


def _stored_global(store: GlobalStore) -> GlobalStore:
    stored = GlobalStore(_stored_node(store.source), _stored_node(store.processor))
    if (stored.source.kind, stored.processor.kind) != (SOURCE, PROCESSOR):
        text = "Global store must be composed of a source and a processor node."
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    return stored


def _stored_node(node: Node) -> Node:
    kind = node.kind
    if kind not in (SOURCE, PROCESSOR, SINK):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown topology node type: {kind}")
    return Node(
        node.name,
        kind,
        _once(node.source_topics) if kind == SOURCE else (),
        node.sink_topic if kind == SINK else None,
        _once(node.stores) if kind == PROCESSOR else (),
        _once(node.successors),
    )


def _once(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))
