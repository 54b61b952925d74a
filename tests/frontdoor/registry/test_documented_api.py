"""What is served against the public description of Confluent's API: endpoints, fields, queries and error codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from odradek.registry import endpoints
from odradek.registry.endpoints import ENDPOINTS
from tests.frontdoor.registry.conftest import Ask
from tests.frontdoor.registry.test_endpoints import CONVERSATION

DESCRIBED = json.loads((Path(__file__).parents[2] / "vectors" / "registry_endpoints.json").read_text())
BY_PLACE = {(each["method"], each["path"]): each for each in DESCRIBED["endpoints"]}
NOT_SERVED = {
    ("POST", "/subjects/{subject}/versions/{version}/tags"),
    ("GET", "/subjects/{subject}/provenance"),
    ("GET", "/v1/metadata/deployment"),
    *(place for place in BY_PLACE if place[1].startswith("/associations") and place[0] != "GET"),
}
"""DIFFERENCES.md names them."""
FROM_SOURCES = {
    "/subjects/{subject}": {40404, 40405},
    "/subjects/{subject}/versions": {42205},
    "/subjects/{subject}/versions/{version}": {40406, 40407},
    "/config/{subject}": {40408},
    "/mode/{subject}": {40409},
}
"""Codes that the description leaves out, and the sources of Confluent's registry name."""
OF_HTTP = {404, 422}
"""Of ids that are no numbers, and of formats that a schema does not have."""


def test_all_that_is_described_is_served_or_named() -> None:
    served = {(method, _without_names(path)) for method, path, _ in ENDPOINTS}
    assert served == {(method, _without_names(path)) for method, path in set(BY_PLACE) - NOT_SERVED}
    differences = (Path(__file__).parents[3] / "DIFFERENCES.md").read_text()
    for words in ("associations", "tags of schemas", "provenance", "`/v1/metadata/deployment`"):
        assert words in differences


def test_all_of_a_query_is_understood_or_refused() -> None:
    source = Path(endpoints.__file__).read_text()
    read = set(re.findall(r'"(\w+)"', source))
    named = {name for place, each in BY_PLACE.items() if place not in NOT_SERVED for name in each["query"]}
    assert named <= read
    differences = (Path(__file__).parents[3] / "DIFFERENCES.md").read_text()
    refused = re.findall(r"request\.refuse\((.*)\)", source)
    assert all(f"`{name}`" in differences for line in refused for name in re.findall(r'"(\w+)"', line))


def _without_names(path: str) -> str:
    return re.sub(r"{\w+}", "{}", path)


def _fits(answer: Any, kind: str | None) -> bool:
    """Whether an answer has the described type, and no field that is not described."""
    if kind is None or kind in ("text", "number"):
        return isinstance(answer, {None: type(None), "text": str, "number": int}[kind])
    if kind.startswith("["):
        return isinstance(answer, list) and all(_fits(each, kind[1:-1]) for each in answer)
    return isinstance(answer, dict) and set(answer) <= set(DESCRIBED["fields"][kind])


def test_registry_answers_as_its_api_is_documented(registry: Ask) -> None:
    seen = set()
    others = [("GET", "/subjects/m/metadata?key=owner&value=me", None), ("GET", "/v1/metadata/id", None)]
    for method, path, body in [*(each[:3] for each in CONVERSATION), *others]:
        status, answer = registry(method, path, None if body is None else body.encode())
        place = _described(method, path)
        wanted = BY_PLACE[place]
        if status == wanted["status"]:
            kind = wanted["answer"]
            if kind == "text":
                answer = str(answer)  # the text of a schema is JSON itself
            assert _fits(answer, kind), (method, path, answer)
            seen.add(place)
        else:
            assert set(answer) == {"error_code", "message"}
            codes = {*wanted["errors"], *FROM_SOURCES.get(place[1], ()), *OF_HTTP}
            assert answer["error_code"] in codes, (method, path, answer)
            assert status == int(str(answer["error_code"])[:3])
    assert set(BY_PLACE) - seen == NOT_SERVED


def _described(method: str, path: str) -> tuple[str, str]:
    """The described path that a path is one of."""
    plain = path.partition("?")[0]
    if not re.fullmatch("/contexts/[^/]+", plain):
        plain = re.sub("^/contexts/[^/]+", "", plain)
    fitting = [
        (each, shape)
        for each, shape in BY_PLACE
        if each == method and re.fullmatch(re.sub(r"{\w+}", "[^/]+", shape), plain)
    ]
    return min(fitting, key=lambda place: place[1].count("{"))


def test_what_is_not_understood_is_refused(registry: Ask) -> None:
    registry("POST", "/subjects/s/versions", {"schema": '"int"'})
    for query in ("aliases=true", "resourceType=topic", "associationType=value", "lifecycle=STRONG"):
        assert registry("GET", f"/schemas?{query}")[0] == 422
    for query in ("findTags=*", "referenceFormat=qualified"):
        for path in ("/schemas/ids/1", "/subjects/s/versions/1"):
            assert registry("GET", f"{path}?{query}")[0] == 422
    assert registry("GET", "/schemas/ids/1?findTags=&referenceFormat=")[0] == 200
    assert registry("GET", "/schemas?aliases=false")[0] == 200
