"""Registries that are copied over HTTP: ours, and others that serve less, or nonsense."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.__main__ import main
from odradek.registry.copying import RegistrySource, RegistrySourceError, registry_records
from odradek.registry.server import RegistryServer
from tests.frontdoor.registry.conftest import Ask, ask

INT = {"schema": '"int"'}
SEEN = (
    "/schemas?deleted=true&subjectPrefix=:*:",
    "/subjects?subjectPrefix=:*:",
    "/subjects?deleted=true&subjectPrefix=:*:",
    "/contexts",
    *("/config", "/mode", "/config/s", "/mode/s", "/config/:.c:", "/config/:.c:s"),
    "/subjects/s%2Fvalue/versions/1/referencedby",
)


def _fill(url: str) -> None:
    """Subjects of all kinds: with a reference, metadata, deleted ones, a context, a slash, settings."""
    named = '{"type":"record","name":"Item","fields":[{"name":"n","type":"int"}]}'
    order = '{"type":"record","name":"Order","fields":[{"name":"item","type":"Item"}]}'
    reference = {"name": "Item", "subject": "s/value", "version": 1}
    rule = {"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}
    extras = {"metadata": {"properties": {"owner": "ann"}}, "ruleSet": {"domainRules": [rule]}}
    steps: list[tuple[str, str, Any]] = [
        ("POST", "/subjects/burnt/versions", {"schema": '"bytes"'}),
        ("DELETE", "/subjects/burnt", None),
        ("DELETE", "/subjects/burnt?permanent=true", None),
        ("POST", "/subjects/s%2Fvalue/versions", {"schema": named}),
        ("POST", "/subjects/order/versions", {"schema": order, "references": [reference], **extras}),
        ("PUT", "/config/s", {"compatibility": "NONE"}),
        ("POST", "/subjects/s/versions", INT),
        ("POST", "/subjects/s/versions", {"schema": '"string"'}),
        ("DELETE", "/subjects/s/versions/1", None),
        ("POST", "/subjects/gone/versions", INT),
        ("DELETE", "/subjects/gone", None),
        ("POST", "/contexts/.c/subjects/s/versions", {"schema": '"long"'}),
        ("PUT", "/config/:.c:", {"compatibility": "FULL", "normalize": True}),
        ("PUT", "/mode/order", {"mode": "READONLY"}),
    ]
    for method, path, body in steps:
        status, answer = ask(url, method, path, body)
        assert status == 200, (path, answer)


def test_a_copy_is_served_as_the_original_was(
    registry: Ask, broker: odradek.KafkaBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _fill(broker.schema_registry_url)
    expected = {path: registry("GET", path) for path in SEEN}
    copy = tmp_path / "copy"
    assert main(["export", str(copy), "--registry", broker.schema_registry_url]) == 0
    told = capsys.readouterr().out
    assert "s: 2 versions\n" in told
    assert "versions of schemas: 6; serve them with: odradek serve --data-dir" in told
    with odradek.KafkaBroker(data_dir=copy, registry=True) as again:
        url = again.schema_registry_url
        assert {path: ask(url, "GET", path) for path in SEEN} == expected
        assert ask(url, "POST", "/subjects/order/versions", INT)[1]["error_code"] == 42205
        assert ask(url, "POST", "/subjects/new/versions", {"schema": '"double"'}) == (200, {"id": 6})


def test_registry_copy_prefers_the_registry_named_to_the_kafkas_topic(
    registry: Ask, broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    registry("POST", "/subjects/here/versions", INT)
    broker.produce("orders", "book")
    with odradek.KafkaBroker(registry=True) as other:
        ask(other.schema_registry_url, "POST", "/subjects/there/versions", {"schema": '"long"'})
        both = ["--bootstrap-servers", broker.bootstrap_servers, "--registry", other.schema_registry_url]
        assert main(["export", str(tmp_path / "copy"), *both]) == 0
    with odradek.KafkaBroker(data_dir=tmp_path / "copy", registry=True) as copy:
        assert ask(copy.schema_registry_url, "GET", "/subjects") == (200, ["there"])
        assert [each.value for each in copy.records("orders")] == [b"book"]


def test_many_large_schemas_take_several_batches(registry: Ask, broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    for number in range(4):
        record = {"type": "record", "name": f"R{number}", "doc": "x" * 400_000, "fields": []}
        registry("POST", f"/subjects/r{number}/versions", {"schema": json.dumps(record)})
    assert main(["export", str(tmp_path / "copy"), "--registry", broker.schema_registry_url]) == 0
    with odradek.KafkaBroker(data_dir=tmp_path / "copy", registry=True) as copy:
        for number in range(4):
            path = f"/subjects/r{number}/versions/1"
            assert ask(copy.schema_registry_url, "GET", path) == registry("GET", path)


def test_global_read_only_is_not_taken_for_that_of_subjects(registry: Ask, broker: odradek.KafkaBroker) -> None:
    registry("POST", "/subjects/s/versions", INT)
    registry("PUT", "/mode", {"mode": "READONLY_OVERRIDE"})
    records = registry_records(RegistrySource(broker.schema_registry_url), lambda text: None)
    assert [(each.subject, each.value) for each in records if each.kind == "MODE"] == [
        (None, {"subject": None, "mode": "READONLY_OVERRIDE"})
    ]


@pytest.mark.parametrize(
    ("user", "token", "works"),
    [("", None, False), ("any:secret@", None, True), ("", "secret", True), ("a:b@", None, False)],
)
def test_registry_copy_logs_in(user: str, token: str | None, works: bool) -> None:
    with odradek.KafkaBroker() as broker, RegistryServer(broker, token="secret") as server:
        ask(server.url, "POST", "/subjects/s/versions", INT, Authorization="Bearer secret")
        source = RegistrySource(server.url.replace("//", f"//{user}"), token)
        if works:
            assert "s" in [each.subject for each in registry_records(source, lambda text: None)]
        else:
            with pytest.raises(RegistrySourceError, match="/contexts: 401 the token is missing or wrong"):
                registry_records(source, lambda text: None)


Answers = dict[str, Any]


@pytest.fixture
def other() -> Iterator[Callable[[Answers], RegistrySource]]:
    """Makes a server that answers what it is told by path, and 404 otherwise."""
    servers = []

    def make(answers: Answers) -> RegistrySource:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = answers.get(self.path)
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(404 if answer is None else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        servers.append(server)
        return RegistrySource(f"http://127.0.0.1:{server.server_port}/base/")

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


SMALL: Answers = {
    "/base/subjects?deleted=true": ["s"],
    "/base/subjects": ["s"],
    "/base/subjects/s/versions": [3],
    "/base/subjects/s/versions?deleted=true": [3],
    "/base/subjects/s/versions/3?deleted=true": {"subject": "s", "version": 3, "id": 70, "schema": '"int"'},
}


def test_a_registry_without_contexts_and_modes(other: Callable[[Answers], RegistrySource]) -> None:
    [record] = registry_records(other(SMALL), lambda text: None)
    assert (record.kind, record.subject, record.version) == ("SCHEMA", "s", 3)
    assert record.value is not None
    assert (record.value["id"], record.value["schema"], record.value["deleted"]) == (70, '"int"', False)


@pytest.mark.parametrize(
    ("path", "answer", "words"),
    [
        ("subjects", b"<html>", "the answer is not JSON"),
        ("subjects", {"a": 1}, "is this a schema registry"),
        ("subjects", None, "is this a schema registry"),
        ("subjects/s/versions", ["1"], "not a list of versions"),
        ("subjects/s/versions/3?deleted=true", [], "the answer is not a schema"),
        ("subjects/s/versions/3?deleted=true", {"schema": "x"}, "needs subject, version, id and schema"),
    ],
)
def test_registry_copy_from_something_else_is_refused(
    other: Callable[[Answers], RegistrySource], path: str, answer: Any, words: str
) -> None:
    with pytest.raises(RegistrySourceError, match=words):
        registry_records(other({**SMALL, f"/base/{path}": answer}), lambda text: None)


def test_one_id_for_two_schemas_is_refused(other: Callable[[Answers], RegistrySource]) -> None:
    second = {"subject": "s", "version": 4, "id": 70, "schema": '"long"'}
    lists = {f"/base/subjects/s/versions{query}": [3, 4] for query in ("", "?deleted=true")}
    answers = {**SMALL, **lists, "/base/subjects/s/versions/4?deleted=true": second}
    with pytest.raises(RegistrySourceError, match="version 4 of 's': another schema has the id 70"):
        registry_records(other(answers), lambda text: None)


@pytest.mark.parametrize("url", ["localhost:8081", "file:///etc/passwd", "http://", "http://h:nix"])
def test_registry_copy_from_a_wrong_url_is_refused(url: str) -> None:
    with pytest.raises(RegistrySourceError):
        RegistrySource(url)


def test_registry_copy_tells_a_users_mistake_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = str(tmp_path / "copy")
    for arguments, words in (
        ([], "nothing to copy from"),
        (["--registry", "http://127.0.0.1:1"], "Connection refused"),
        (["--registry", "localhost:8081"], "expected http://HOST:PORT"),
    ):
        assert main(["export", copy, *arguments]) == 2
        assert words in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["export", copy, "--registry", "http://127.0.0.1:1", "--topic", "orders"])
    assert "--topic needs --bootstrap-servers" in capsys.readouterr().err
    assert not (tmp_path / "copy").exists()
