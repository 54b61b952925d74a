"""A conversation with each endpoint, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

import odradek
from odradek.registry import endpoints
from odradek.registry.decisions import SchemaRequest
from odradek.registry.endpoints import ENDPOINTS, Request
from odradek.registry.entries import Content
from odradek.registry.errors import RegistryError
from tests.frontdoor.registry.conftest import Ask

INT, LONG, STRING = (json.dumps({"schema": f'"{name}"'}) for name in ("int", "long", "string"))
SUBJECTS = "/subjects/s/versions"
INT_GUID = Content('"int"').guid


def told(name: str, **place: Any) -> dict[str, Any]:
    schema = f'"{name}"'
    return {**place, "guid": Content(schema).guid, "schema": schema}


CONVERSATION: list[tuple[str, str, str | None, int, Any]] = [
    ("GET", "/", None, 200, {}),
    ("GET", "/schemas/types", None, 200, ["JSON", "PROTOBUF", "AVRO"]),
    ("GET", "/subjects", None, 200, []),
    ("GET", SUBJECTS, None, 404, 40401),
    ("POST", SUBJECTS, INT, 200, {"id": 1}),
    ("POST", SUBJECTS, STRING, 409, 40901),
    ("POST", "/compatibility/subjects/s/versions/latest", LONG, 200, {"is_compatible": True}),
    ("POST", "/compatibility/subjects/s/versions/1?verbose=true", LONG, 200, {"is_compatible": True, "messages": []}),
    ("POST", "/compatibility/subjects/s/versions", STRING, 200, {"is_compatible": False}),
    ("POST", "/compatibility/subjects/s/versions/2", LONG, 404, 40402),
    ("POST", "/compatibility/subjects/new/versions/latest", LONG, 200, {"is_compatible": True}),
    ("POST", SUBJECTS, LONG, 200, {"id": 2}),
    ("POST", "/subjects/:.c:s/versions", STRING, 200, {"id": 1}),
    ("POST", "/contexts/.c/subjects/t/versions", INT, 200, {"id": 2}),
    ("GET", "/contexts", None, 200, [".", ".c"]),
    ("GET", "/subjects", None, 200, [":.c:s", ":.c:t", "s"]),
    ("GET", "/subjects?subjectPrefix=s", None, 200, ["s"]),
    ("GET", "/contexts/.c/subjects", None, 200, [":.c:s", ":.c:t"]),
    ("GET", "/subjects?offset=1&limit=1", None, 200, [":.c:t"]),
    ("GET", SUBJECTS, None, 200, [1, 2]),
    ("GET", f"{SUBJECTS}/latest", None, 200, told("long", subject="s", version=2, id=2)),
    ("GET", f"{SUBJECTS}/1", None, 200, told("int", subject="s", version=1, id=1)),
    ("GET", f"{SUBJECTS}/1?format=pretty", None, 422, 422),
    ("GET", f"{SUBJECTS}/1/schema", None, 200, "int"),
    ("GET", f"{SUBJECTS}/3", None, 404, 40402),
    ("GET", f"{SUBJECTS}/x", None, 422, 42202),
    ("GET", "/subjects/t/versions/1", None, 200, told("int", subject=":.c:t", version=1, id=2)),
    ("GET", f"{SUBJECTS}/1/referencedby", None, 200, []),
    ("POST", "/subjects/s", INT, 200, told("int", subject="s", version=1, id=1)),
    ("POST", "/subjects/s", STRING, 404, 40403),
    ("POST", "/subjects/unknown", INT, 404, 40401),
    ("GET", "/schemas/ids/1", None, 200, told("int", subject="s", version=1)),
    ("GET", "/schemas/ids/1?fetchMaxId=true", None, 200, {**told("int", subject="s", version=1), "maxId": 2}),
    ("GET", "/schemas/ids/1?subject=:.c:", None, 200, told("string", subject=":.c:s", version=1)),
    ("GET", "/contexts/.c/schemas/ids/1", None, 200, told("string", subject=":.c:s", version=1)),
    ("GET", "/schemas/ids/1/schema", None, 200, "int"),
    ("GET", "/schemas/ids/1/subjects", None, 200, ["s"]),
    ("GET", "/schemas/ids/1/versions", None, 200, [{"subject": "s", "version": 1}]),
    ("GET", "/schemas/ids/9", None, 404, 40403),
    ("GET", "/schemas/ids/x", None, 404, 404),
    ("GET", f"/schemas/guids/{INT_GUID}", None, 200, told("int")),
    (
        "GET",
        f"/schemas/guids/{INT_GUID}/ids",
        None,
        200,
        [{"context": ".", "id": 1}, {"context": ".c", "id": 2}],
    ),
    ("GET", "/schemas/guids/unknown", None, 404, 40403),
    ("GET", "/schemas?latestOnly=true&subjectPrefix=s", None, 200, [told("long", subject="s", version=2, id=2)]),
    ("GET", "/config", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("GET", "/config/s", None, 404, 40408),
    ("GET", "/config/s?defaultToGlobal=true", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("PUT", "/config", '{"compatibility": "FULL"}', 200, {"compatibility": "FULL"}),
    ("PUT", "/config/s", '{"compatibility": "NONE"}', 200, {"compatibility": "NONE"}),
    ("PUT", "/config/s", '{"compatibility": "X"}', 422, 42203),
    ("GET", "/config/s", None, 200, {"compatibilityLevel": "NONE"}),
    ("DELETE", "/config/s", None, 200, {"compatibilityLevel": "NONE"}),
    ("DELETE", "/config/s", None, 404, 40401),
    ("DELETE", "/config", None, 200, {"compatibilityLevel": "FULL"}),
    ("PUT", "/contexts/.c/config", '{"compatibility": "NONE"}', 200, {"compatibility": "NONE"}),
    ("GET", "/config/:.c:t?defaultToGlobal=true", None, 200, {"compatibilityLevel": "NONE"}),
    ("GET", "/mode", None, 200, {"mode": "READWRITE"}),
    ("GET", "/mode/s", None, 404, 40409),
    ("GET", "/mode/s?defaultToGlobal=true", None, 200, {"mode": "READWRITE"}),
    ("PUT", "/mode/s", '{"mode": "READONLY"}', 200, {"mode": "READONLY"}),
    ("GET", "/mode/s", None, 200, {"mode": "READONLY"}),
    ("POST", SUBJECTS, '{"schema": "\\"double\\""}', 422, 42205),
    ("DELETE", "/mode/s", None, 200, {"mode": "READONLY"}),
    ("PUT", "/mode/s", '{"mode": "IMPORT"}', 422, 42205),
    ("PUT", "/mode/s?force=true", '{"mode": "IMPORT"}', 200, {"mode": "IMPORT"}),
    ("DELETE", "/mode/s", None, 200, {"mode": "IMPORT"}),
    ("PUT", "/mode", '{"mode": "READWRITE"}', 200, {"mode": "READWRITE"}),
    ("DELETE", "/mode", None, 200, {"mode": "READWRITE"}),
    ("DELETE", f"{SUBJECTS}/1?permanent=true", None, 404, 40407),
    ("DELETE", f"{SUBJECTS}/1", None, 200, 1),
    ("DELETE", f"{SUBJECTS}/1", None, 404, 40406),
    ("GET", SUBJECTS, None, 200, [2]),
    ("GET", f"{SUBJECTS}?deleted=true", None, 200, [1, 2]),
    ("GET", f"{SUBJECTS}?deletedOnly=true", None, 200, [1]),
    ("GET", "/schemas/ids/1/subjects", None, 200, []),
    ("GET", "/schemas/ids/1/subjects?deleted=true", None, 200, ["s"]),
    ("POST", "/subjects/s?deleted=true", INT, 200, told("int", subject="s", version=1, id=1)),
    ("DELETE", f"{SUBJECTS}/1?permanent=true", None, 200, 1),
    ("GET", "/schemas/ids/1", None, 404, 40403),
    ("DELETE", "/subjects/s", None, 200, [2]),
    ("GET", "/subjects?deletedOnly=true", None, 200, ["s"]),
    ("DELETE", "/subjects/s", None, 404, 40404),
    ("DELETE", "/subjects/s?permanent=true", None, 200, [2]),
    ("DELETE", "/subjects/s?permanent=true", None, 404, 40401),
    (
        "POST",
        "/subjects/m/versions",
        '{"schema": "\\"int\\"", "metadata": {"properties": {"owner": "me"}}}',
        200,
        {
            "version": 1,
            "id": 3,
            "guid": Content('"int"', metadata='{"properties":{"owner":"me"}}').guid,
            "metadata": {"properties": {"owner": "me"}},
            "schema": '"int"',
        },
    ),
    ("GET", "/v1/metadata/version", None, 200, {"version": f"odradek {odradek.__version__}", "commitId": ""}),
    ("GET", "/subjects/m/metadata?key=owner&value=you", None, 404, 40403),
    ("GET", "/associations/resources/-/orders?resourceType=topic&associationType=value", None, 200, []),
    ("GET", "/associations/resources/orders", None, 200, []),
    ("GET", "/associations/subjects/s", None, 200, []),
    ("GET", "/contexts?contextPrefix=.c", None, 200, [".c"]),
    ("DELETE", "/contexts/.c", None, 422, 42211),
    ("DELETE", "/contexts/.unknown", None, 404, 40401),
    ("DELETE", "/contexts/.", None, 404, 40401),
    ("DELETE", "/subjects/:.c:s", None, 200, [1]),
    ("DELETE", "/subjects/:.c:t", None, 200, [1]),
    ("DELETE", "/contexts/.c", None, 422, 42211),
    ("DELETE", "/subjects/:.c:s?permanent=true", None, 200, [1]),
    ("DELETE", "/subjects/:.c:t?permanent=true", None, 200, [1]),
    ("PUT", "/mode/:.c:", '{"mode": "READONLY"}', 200, {"mode": "READONLY"}),
    ("PUT", "/mode/:.c:s", '{"mode": "READONLY"}', 200, {"mode": "READONLY"}),
    ("DELETE", "/mode/:.c:?recursive=true", None, 200, {"mode": "READONLY"}),
    ("DELETE", "/mode/:.c:?recursive=true", None, 200, {"mode": None}),
    ("GET", "/mode/:.c:s", None, 404, 40409),
    ("DELETE", "/contexts/c", None, 204, None),
    ("GET", "/contexts", None, 200, ["."]),
    ("GET", "/config/:.c:", None, 404, 40408),
    ("GET", "/subjects/unknown/metadata?key=owner&value=you", None, 404, 40401),
]


def test_the_registry_answers_as_recorded(registry: Ask) -> None:
    for method, path, body, status, answer in CONVERSATION:
        found, data = registry(method, path, None if body is None else body.encode())
        if status >= 400:
            data = data["error_code"]
        assert (found, data) == (status, answer), (method, path)


def test_the_latest_with_a_property(registry: Ask) -> None:
    schema = {"schema": '"int"', "metadata": {"properties": {"owner": "me"}}}
    registry("POST", SUBJECTS, schema)
    status, found = registry("GET", "/subjects/s/metadata?key=owner&value=me")
    assert (status, found["version"], found["metadata"]) == (200, 1, schema["metadata"])
    both = "key=owner&value=me&key=unit&value={}"
    schema["metadata"]["properties"]["unit"] = "eur"  # type: ignore[index]
    registry("POST", SUBJECTS, schema)
    assert registry("GET", f"/subjects/s/metadata?{both.format('eur')}")[1]["version"] == 2
    assert registry("GET", f"/subjects/s/metadata?{both.format('usd')}")[1]["error_code"] == 40403
    assert registry("GET", "/subjects/s/metadata")[1]["version"] == 2


def test_registry_refuses_to_delete_schemas_that_others_refer_to(registry: Ask) -> None:
    registry("POST", "/subjects/inner/versions", {"schema": '{"type":"enum","name":"E","symbols":["A"]}'})
    outer = {"schema": '["null","E"]', "references": [{"name": "E", "subject": "inner", "version": 1}]}
    assert registry("POST", "/subjects/outer/versions", outer) == (200, {"id": 2})
    assert registry("GET", "/subjects/inner/versions/1/referencedby") == (200, [2])
    assert registry("GET", "/schemas/ids/2")[1]["references"] == outer["references"]
    assert registry("DELETE", "/subjects/inner")[1]["error_code"] == 42206


def test_the_server_says_what_it_is(registry: Ask, broker: odradek.KafkaBroker) -> None:
    clusters = {"kafka-cluster": broker.cluster.services.cluster_id, "schema-registry-cluster": "schema-registry"}
    assert registry("GET", "/v1/metadata/id") == (200, {"scope": {"path": [], "clusters": clusters}})
    assert registry("GET", "/v1/metadata/version")[1]["version"] == f"odradek {odradek.__version__}"


def test_each_endpoint_is_in_a_conversation() -> None:
    elsewhere = {("GET", "/v1/metadata/id")}
    for method, path, _ in ENDPOINTS:
        shape = [None if each.startswith("{") else each for each in path.split("/")]
        talked = any(method == asked and _fits(shape, where.partition("?")[0]) for asked, where, *_ in CONVERSATION)
        assert talked or (method, path) in elsewhere, (method, path)


def _fits(shape: list[str | None], path: str) -> bool:
    pieces = path.removeprefix("/contexts/.c").split("/")
    return len(pieces) == len(shape) and all(each in (None, piece) for each, piece in zip(shape, pieces, strict=True))


@pytest.mark.parametrize("name", ["a/b", "Bücher 1", "a%2Fb", ":.c:a/b"])
def test_registry_takes_subjects_with_any_letters(registry: Ask, name: str) -> None:
    from urllib.parse import quote

    path = f"/subjects/{quote(name, safe='')}/versions"
    assert registry("POST", path, json.loads(INT)) == (200, {"id": 1})
    assert registry("GET", "/subjects") == (200, [name])


def test_schemas_with_rules_of_a_type(registry: Ask) -> None:
    rule = {"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}
    registry("POST", SUBJECTS, {"schema": '"int"', "ruleSet": {"domainRules": [rule]}})
    registry("POST", "/subjects/t/versions", {"schema": '"int"'})
    assert [each["subject"] for each in registry("GET", "/schemas?ruleType=CEL")[1]] == ["s"]
    assert registry("GET", "/schemas?ruleType=ENCRYPT") == (200, [])


def test_a_format_counts_where_a_schema_is_registered_or_looked_up(registry: Ask) -> None:
    schema = {"schema": 'syntax = "proto3"; message M {}', "schemaType": "PROTOBUF"}
    registered = {**schema, "metadata": {"properties": {"owner": "me"}}}
    status, told = registry("POST", f"{SUBJECTS}?format=serialized", registered)
    assert (status, told["schema"]) == (200, registry("GET", f"{SUBJECTS}/1?format=serialized")[1]["schema"])
    assert registry("POST", "/subjects/s?format=serialized", registered)[1]["schema"] == told["schema"]
    assert registry("POST", "/subjects/s?format=pretty", registered)[0] == 422


def test_schemas_are_listed_up_to_a_number_and_a_size(registry: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        assert registry("POST", f"/subjects/{name}/versions", {"schema": '"int"'})[0] == 200
    monkeypatch.setattr(endpoints, "_MOST_SCHEMAS", 2)
    for query, subjects in (("", ["a", "b"]), ("?limit=1", ["a"]), ("?offset=1&limit=9", ["b", "c"])):
        assert [each["subject"] for each in registry("GET", f"/schemas{query}")[1]] == subjects
    monkeypatch.setattr(endpoints, "_MOST_TEXT", 6)
    assert registry("GET", "/schemas?limit=1")[0] == 200
    status, told = registry("GET", "/schemas")
    assert (status, told["error_code"]) == (422, 422)
    assert "ask for fewer" in told["message"]


def test_subjects_are_qualified_by_the_context_of_the_path() -> None:
    assert Request({"subject": ":.:s"}).subject == "s"
    assert Request({"subject": "s"}, context=".c").subject == ":.c:s"
    assert Request(context=".c").subject_or_all == ":.c:"
    assert Request().subject_or_all is None
    assert Request(query={"subject": "s"}).subject_asked == "s"
    assert Request(query={"subject": ""}).subject_asked is None


def test_prefixes_mean_all_contexts_unless_one_is_named() -> None:
    assert Request().prefix == ":*:"
    assert Request(query={"subjectPrefix": "s"}).prefix == "s"
    assert Request(context=".c").prefix == ":.c:"
    assert Request(query={"subjectPrefix": "s"}, context=".c").prefix == ":.c:s"


@pytest.mark.parametrize(("text", "version"), [("1", 1), ("latest", -1), (" LATEST ", -1), ("-1", -1)])
def test_a_version_of_a_subject_is_read(text: str, version: int) -> None:
    assert Request({"version": text}).version == version


@pytest.mark.parametrize("text", ["0", "-2", "2147483648", "one", "1.0", "\u0661", "9" * 5000])
def test_registry_request_with_a_wrong_version_is_refused(text: str) -> None:
    with pytest.raises(RegistryError) as refused:
        Request({"version": text}).version  # noqa: B018
    assert refused.value.code == 42202


@pytest.mark.parametrize("text", ["-1", "2147483648", "one", "\u0661"])
def test_registry_request_with_a_wrong_id_is_refused(text: str) -> None:
    with pytest.raises(RegistryError) as refused:
        Request({"id": text}).number  # noqa: B018
    assert refused.value.code == 404


@pytest.mark.parametrize(
    ("query", "items"),
    [
        ({}, [0, 1, 2, 3]),
        ({"offset": "1"}, [1, 2, 3]),
        ({"limit": "2"}, [0, 1]),
        ({"offset": "3", "limit": "2"}, [3]),
        ({"offset": "9"}, []),
        ({"offset": "-1", "limit": "-1"}, [0, 1, 2, 3]),
        ({"limit": "0"}, [0, 1, 2, 3]),
    ],
)
def test_pages_of_a_list_are_read(query: dict[str, str], items: list[int]) -> None:
    assert Request(query=query).page([0, 1, 2, 3]) == items


@pytest.mark.parametrize(
    ("query", "items"), [({}, [0, 1]), ({"limit": "1"}, [0]), ({"limit": "3", "offset": "1"}, [1, 2])]
)
def test_a_page_with_a_limit_has_no_more(query: dict[str, str], items: list[int]) -> None:
    assert Request(query=query).page([0, 1, 2, 3], 2) == items


def test_a_page_is_of_numbers() -> None:
    with pytest.raises(RegistryError, match="limit=x"):
        Request(query={"limit": "x"}).page([])


def test_flags_of_a_registry_request_are_read() -> None:
    assert Request(query={"deleted": "TRUE"}).flag("deleted")
    assert not Request(query={"deleted": "1"}).flag("deleted")


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"", 422), (b" ", 422), (b"{", 400), (b"[" * 100_000, 400), (b"\xff", 400), (b"[]", 422), (b"null", 422)],
)
def test_registry_request_whose_body_is_no_object_is_refused(body: bytes, code: int) -> None:
    with pytest.raises(RegistryError) as refused:
        Request(body=body).object  # noqa: B018
    assert refused.value.code == code


def test_a_schema_in_a_body() -> None:
    body = {"schema": "x", "schemaType": None, "references": None, "id": None, "version": None}
    assert Request(body=json.dumps(body).encode()).schema_request == SchemaRequest(Content("x"))
    assert Request(body=b'{"schema":"x","id":0,"version":-1}').schema_request == SchemaRequest(Content("x"), -1, 0)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"scheme": "x"}, 422),
        ({"schema": "x", "id": "1"}, 422),
        ({"schema": "x", "id": 2**31}, 422),
        ({"schema": "x", "version": -2}, 422),
        ({"schema": "x", "version": True}, 422),
        ({"schema": 1}, 42201),
        ({"schema": {"type": "int"}}, 42201),
    ],
)
def test_what_is_no_schema_in_a_body(body: dict[str, Any], code: int) -> None:
    with pytest.raises(RegistryError) as refused:
        Request(body=json.dumps(body).encode()).schema_request  # noqa: B018
    assert refused.value.code == code
