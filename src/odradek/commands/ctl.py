"""`odradek ctl`: execute an operation of a control API. The operations are those of its OpenAPI document."""

from __future__ import annotations

import argparse
import http.client
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from odradek.commands import CommandError, CommandParser, add_control_api
from odradek.protocol.shown import one_line, printable

_PATIENCE_S = 3600.0
_LINES = "application/x-ndjson"
_PLACE = re.compile(r"/\{(\w+)\}")


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="an operation and its values, in their order or by NAME=VALUE: kill-node 2 | clock advance hours=1 | "
        'groups info shipping | set-faults \'[{"api": "Produce", "drop": true}]\'; without any, list all operations',
    )
    # In place of argparse's own, which knows no operation.
    parser.add_argument("-h", "--help", action="store_true", help="explain the operation, or else this command")
    parser.set_defaults(print_help=parser.print_help)
    add_control_api(parser)


class _Operation(NamedTuple):
    """An operation, the schemas of its arguments, and those that it needs. `doc`: what it does, in full."""

    name: tuple[str, ...]
    method: str
    path: str
    schemas: dict[str, Any]
    needed: list[str]
    doc: str

    @property
    def place(self) -> str | None:
        """What the path names: TOPIC, GROUP or ID; None where there is one of it."""
        found = _PLACE.search(self.path)
        return found[1].upper() if found else None

    @property
    def usage(self) -> str:
        """The words to type; what may be left out is in brackets."""
        values = [each.upper() if each in self.needed else f"[{each}]" for each in self.schemas]
        return " ".join([self.start, *values])

    @property
    def start(self) -> str:
        """The name, and what it names."""
        return " ".join([*self.name, *([self.place] if self.place else [])])


def run(arguments: argparse.Namespace) -> int:
    """Print the answer as JSON; of a stream each line as it comes, until the broker or the reader ends it."""
    if arguments.help and not arguments.words:
        arguments.print_help()
        return 0
    operations = _operations(_ask(arguments, "GET", "/openapi.json", None))
    if not arguments.words:
        for each in operations:
            summary = " ".join(each.doc.partition("\n\n")[0].split())
            print(f"{each.usage}\n    {summary}")
        return 0
    chosen, words = _chosen(operations, arguments.words)
    if arguments.help:
        print(f"usage: odradek ctl {chosen.usage}\n\n{chosen.doc}")
        return 0
    path = chosen.path
    if chosen.place:
        if not words:
            raise CommandError(f"{' '.join(chosen.name)} needs {chosen.place}: odradek ctl {chosen.usage}")
        path = _PLACE.sub(f"/{quote(words.pop(0), safe='')}", path)
    given = _given(chosen, words)
    if chosen.method == "GET" and given:
        path += "?" + urlencode({name: _query_text(value) for name, value in given.items()})
    answer = _ask(arguments, chosen.method, path, None if chosen.method == "GET" else given)
    if isinstance(answer, Iterator):
        for line in answer:
            print(one_line(line), flush=True)  # whoever reads behind a pipe waits for it
    elif answer is not None:
        print(printable(answer if isinstance(answer, str) else json.dumps(answer, indent=2, ensure_ascii=False)))
    return 0


def _operations(document: dict[str, Any]) -> list[_Operation]:
    found = []
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            name = tuple(_PLACE.sub("", path.removeprefix("/v1/")).split("/"))
            body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            query = [each for each in told.get("parameters", []) if each["in"] == "query"]
            schemas = {**{each["name"]: each["schema"] for each in query}, **body.get("properties", {})}
            needed = [*(each["name"] for each in query if each["required"]), *body.get("required", [])]
            found.append(_Operation(name, method.upper(), path, schemas, needed, told["description"]))
    return found


def _chosen(operations: list[_Operation], words: list[str]) -> tuple[_Operation, list[str]]:
    """The operation that the words begin with, and the words behind it."""
    by_name = {each.name: each for each in operations}
    meant = by_name.get((words[0], *words[2:3]))
    if meant is not None and meant.place and tuple(words[:2]) not in by_name:
        raise CommandError(f"the operation comes first: odradek ctl {meant.usage}")
    for each in sorted(operations, key=lambda operation: -len(operation.name)):
        if tuple(words[: len(each.name)]) == each.name:
            return each, list(words[len(each.name) :])
    from odradek.broker.mistakes import did_you_mean, words_of

    asked = words_of(words[0])
    inside = [each for each in operations if len(each.name) > 1 and asked <= words_of(*each.name)]
    fewest = min((len(words_of(*each.name)) for each in inside), default=0)
    likely = " or ".join(f"'{each.start}'" for each in inside if len(words_of(*each.name)) == fewest)
    nearest = f" (did you mean {likely}?)" if likely else did_you_mean(words[0], {each.name[0] for each in operations})
    raise CommandError(f"no operation is called {words[0]}{nearest}; `odradek ctl` alone lists them")


def _given(operation: _Operation, words: list[str]) -> dict[str, Any]:
    """The arguments: by name, or in their order."""
    from odradek.broker.mistakes import did_you_mean

    given: dict[str, Any] = {}
    waiting = list(operation.schemas)
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in operation.schemas:
            waiting = [each for each in waiting if each != name]
        elif equals and (nearest := did_you_mean(name, operation.schemas)):
            raise CommandError(f"{' '.join(operation.name)} has no {name}{nearest}")
        elif waiting:
            name, value = waiting.pop(0), word
        else:
            raise CommandError(f"too many values: odradek ctl {operation.usage}")
        given[name] = _value(operation.schemas[name], value)
    return given


def _value(schema: dict[str, Any], text: str) -> Any:
    """A word as JSON where text is not what is expected, or where it is clearly JSON."""
    kinds = {each.get("type") for each in schema.get("anyOf", [schema])}
    if kinds == {"string"}:
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    is_plain = kinds & {"integer", "number", "boolean", "null", "array", "object"}
    return value if is_plain or isinstance(value, dict | list) else text


def _query_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ask(arguments: argparse.Namespace, method: str, path: str, body: Any) -> Any:
    """The answer, or an iterator over the lines of a stream."""
    parts = urlsplit(arguments.at)
    if parts.scheme != "http" or not parts.hostname:
        raise CommandError(f"--at {arguments.at}: expected http://HOST:PORT")
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if arguments.token:
        headers["Authorization"] = f"Bearer {arguments.token}"
    connection = http.client.HTTPConnection(parts.netloc, timeout=_PATIENCE_S)
    lines = None
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        if response.headers.get_content_type() == _LINES:
            lines = _lines(arguments, connection, response)
            return lines
        answer = json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        from odradek.broker.facade.remote.transport import not_answered

        raise CommandError(not_answered(arguments.at, error)) from error
    finally:
        if lines is None:
            connection.close()
    if response.status != 200:
        raise CommandError(answer["error"]["message"])
    return answer


def _lines(
    arguments: argparse.Namespace, connection: http.client.HTTPConnection, response: http.client.HTTPResponse
) -> Iterator[str]:
    """Each line when it comes, however long that takes."""
    try:
        if connection.sock is not None:
            connection.sock.settimeout(None)
        for line in response:
            if text := line.decode().strip():
                yield text
    except (OSError, http.client.HTTPException) as error:
        raise CommandError(f"the stream from {arguments.at} was cut: {error}") from error
    finally:
        connection.close()
