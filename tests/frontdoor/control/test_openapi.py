"""The OpenAPI document and its schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import pytest

import odradek
from odradek.broker.facade.remote.operations import operations
from odradek.control.openapi import Schemas, document
from odradek.control.streams import STREAMS


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
def test_openapi_schemas_of_types(hint: Any, schema: Any) -> None:
    assert Schemas().of(hint) == schema


def test_a_class_is_a_component_with_its_fields() -> None:
    schemas = Schemas()
    schemas.of(odradek.TopicInfo)
    assert schemas.components["TopicInfo"]["properties"]["partitions"] == {
        "type": "array",
        "items": {"$ref": "#/components/schemas/PartitionInfo"},
    }
    assert "replica_ends" in schemas.components["PartitionInfo"]["properties"]


def test_the_openapi_document_has_every_operation_with_its_arguments() -> None:
    paths = document()["paths"]
    assert sum(map(len, paths.values())) == len(operations()) + len(STREAMS)
    body = paths["/v1/create-topic"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["required"] == ["name"]
    assert body["properties"]["partitions"] == {"type": "integer", "default": 1}
    assert [each["name"] for each in paths["/v1/records"]["get"]["parameters"]][:2] == ["topic", "partition"]


def test_every_reference_leads_somewhere_and_it_is_json() -> None:
    text = json.dumps(document())
    known = document()["components"]["schemas"]
    assert set(re.findall(r"#/components/schemas/(\w+)", text)) <= known.keys()


def test_what_is_told_holds_over_http() -> None:
    text = json.dumps(document()["paths"])
    assert not re.findall(r"``(?:async )?with``|In Python|await |condition\(|broker\.\w+\(|\(\\\"\w+\\\", \d", text)
    assert set(re.findall(r"`odradek (\w+)", text)) == {"decode"}


def test_owners_are_called_what_they_are() -> None:
    found = {
        parameter["name"]
        for methods in document()["paths"].values()
        for each in methods.values()
        for parameter in each.get("parameters", [])
        if parameter["in"] == "path"
    }
    assert found == {"topic", "group", "id"}
