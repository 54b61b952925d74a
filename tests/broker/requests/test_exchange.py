"""Names of APIs."""

from __future__ import annotations

from odradek.broker.requests.exchange import REGISTRY_API, REGISTRY_KEY, api_name
from odradek.protocol.apis import API_BY_KEY, API_BY_NAME


def test_names_are_those_of_kafka_and_one_more() -> None:
    assert api_name(1) == "Fetch"
    assert api_name(REGISTRY_KEY) == REGISTRY_API
    assert REGISTRY_KEY not in API_BY_KEY
    assert REGISTRY_API not in API_BY_NAME
