"""What is stored of a description."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.description import (
    PROCESSOR,
    SINK,
    SOURCE,
    Description,
    GlobalStore,
    Node,
    as_stored,
)
from odradek.protocol.errors import ErrorCode, KafkaError


def node(kind: int) -> Node:
    return Node("n", kind, ["t", "t", "a"], "s", ["st", "st"], ["y", "x", "y"])


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        (SOURCE, Node("n", SOURCE, ["t", "a"], None, (), ["y", "x"])),
        (PROCESSOR, Node("n", PROCESSOR, (), None, ["st"], ["y", "x"])),
        (SINK, Node("n", SINK, (), "s", (), ["y", "x"])),
    ],
)
def test_fields_of_a_kind(kind: int, stored: Node) -> None:
    assert as_stored(Description([("0", [node(kind)])], [])) == Description([("0", [stored])], [])


@pytest.mark.parametrize(
    ("description", "why"),
    [
        (Description([("0", [node(SOURCE), node(0)])], []), "Unknown topology node type: 0"),
        (Description([], [GlobalStore(node(SOURCE), node(4))]), "Unknown topology node type: 4"),
        (
            Description([], [GlobalStore(node(PROCESSOR), node(SOURCE))]),
            "Global store must be composed of a source and a processor node.",
        ),
    ],
)
def test_kinds_that_are_refused(description: Description, why: str) -> None:
    with pytest.raises(KafkaError) as refused:
        as_stored(description)
    assert (refused.value.code, refused.value.message) == (ErrorCode.INVALID_REQUEST, why)
