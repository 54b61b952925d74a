"""What can be followed."""

from __future__ import annotations

from odradek.control.openapi import document
from odradek.control.streamed import STREAMS


def test_the_document_has_the_streams() -> None:
    for each in STREAMS:
        told = document()["paths"][each.path]["get"]
        assert list(told["responses"]["200"]["content"]) == ["application/x-ndjson"]
        assert "latest" in [parameter["name"] for parameter in told["parameters"]]
