"""What a request's path, query and body say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from odradek.registry.decisions import SchemaRequest
from odradek.registry.entries import Content
from odradek.registry.errors import RegistryError
from odradek.registry.requests import Request


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
def test_versions(text: str, version: int) -> None:
    assert Request({"version": text}).version == version


@pytest.mark.parametrize("text", ["0", "-2", "2147483648", "one", "1.0", "\u0661", "9" * 5000])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(RegistryError) as refused:
        Request({"version": text}).version  # noqa: B018
    assert refused.value.code == 42202


@pytest.mark.parametrize("text", ["-1", "2147483648", "one", "\u0661"])
def test_what_is_no_id(text: str) -> None:
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
def test_pages(query: dict[str, str], items: list[int]) -> None:
    assert Request(query=query).page([0, 1, 2, 3]) == items


@pytest.mark.parametrize(
    ("query", "items"), [({}, [0, 1]), ({"limit": "1"}, [0]), ({"limit": "3", "offset": "1"}, [1, 2])]
)
def test_a_page_with_a_limit_has_no_more(query: dict[str, str], items: list[int]) -> None:
    assert Request(query=query).page([0, 1, 2, 3], 2) == items


def test_a_page_is_of_numbers() -> None:
    with pytest.raises(RegistryError, match="limit=x"):
        Request(query={"limit": "x"}).page([])


def test_flags() -> None:
    assert Request(query={"deleted": "TRUE"}).flag("deleted")
    assert not Request(query={"deleted": "1"}).flag("deleted")


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"", 422), (b" ", 422), (b"{", 400), (b"[" * 100_000, 400), (b"\xff", 400), (b"[]", 422), (b"null", 422)],
)
def test_what_is_no_object(body: bytes, code: int) -> None:
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
