"""The OpenAPI document."""

from __future__ import annotations

import json
import re

from odradek.broker.facade.remote.operations import operations
from odradek.control.openapi import document
from odradek.control.streamed import STREAMS


def test_it_has_every_operation_with_its_arguments() -> None:
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
