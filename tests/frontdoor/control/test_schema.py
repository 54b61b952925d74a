"""Types as JSON schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import pytest

import odradek
from odradek.control.schema import Schemas


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (int, {"type": "integer"}),
        (Any, {}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Iterable[int], {"type": "array", "items": {"type": "integer"}}),
        (Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (odradek.RecordMetadata, {"$ref": "#/components/schemas/RecordMetadata"}),
        (odradek.Undo, {"$ref": "#/components/schemas/Handle"}),
    ],
)
def test_types(hint: Any, schema: Any) -> None:
    assert Schemas().of(hint) == schema


def test_a_class_is_a_component_with_its_fields() -> None:
    schemas = Schemas()
    schemas.of(odradek.TopicInfo)
    assert schemas.components["TopicInfo"]["properties"]["partitions"] == {
        "type": "array",
        "items": {"$ref": "#/components/schemas/PartitionInfo"},
    }
    assert "replica_ends" in schemas.components["PartitionInfo"]["properties"]
