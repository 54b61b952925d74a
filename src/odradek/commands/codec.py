"""`odradek decode` and `odradek encode`: frames to JSON and back, one per line.

A frame (without its 4-byte size) is `{"key": .., "version": .., "hex": ..}`, decoded it is
`{"key": .., "version": .., "header": {..}, "body": {..}}`: what one command prints the other reads. A request names its
key and version in its header too, so they may be left out beside it; a response does not. Bytes after the body, which
Kafka accepts, are kept as `"trailing": hex`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from odradek.commands import CommandParser
from odradek.protocol.apis import API_BY_KEY, API_VERSIONS_KEY, ApiSpec
from odradek.protocol.errors import ProtocolError
from odradek.protocol.headers import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
)
from odradek.protocol.json_form import from_json, tagged_from_json, tagged_to_json, to_json
from odradek.protocol.message_codec import codec

Json = dict[str, Any]


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("kind", choices=("request", "response"), help="whether the lines are requests or responses")


def run(arguments: argparse.Namespace) -> int:
    """Convert standard input to standard output; 1 if a line was bad."""
    convert = run_decode if arguments.command == "decode" else run_encode
    return convert(arguments.kind, sys.stdin, sys.stdout)


def run_decode(kind: str, lines: Iterable[str], out: TextIO) -> int:
    """Print what each frame says. Returns 0, or 1 if a line was bad: `{"error": ..}` stands in its place."""
    return _convert(decode_request if kind == "request" else decode_response, lines, out)


def run_encode(kind: str, lines: Iterable[str], out: TextIO) -> int:
    """Print the frame of each header and body. Returns 0, or 1 if a line was bad."""
    return _convert(encode_request if kind == "request" else encode_response, lines, out)


def _convert(convert: Callable[[Json], Json], lines: Iterable[str], out: TextIO) -> int:
    status = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            answer = convert(_object(line))
        except ProtocolError as error:
            status = 1
            answer = {"error": f"line {number}: {error}"}
        out.write(json.dumps(answer, separators=(",", ":")) + "\n")
    return status


def _object(line: str) -> Json:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise ProtocolError("a JSON object is needed")
    return parsed


def decode_request(line: Json) -> Json:
    frame = _frame(line)
    header, offset = decode_request_header(frame)
    for name, found in (("key", header.api_key), ("version", header.api_version)):
        if name in line and _integer(line, name) != found:
            raise ProtocolError(f"the line says {name} {line[name]}, the frame's header {found}")
    spec = API_BY_KEY[header.api_key]
    version = _request_body_version(spec, header.api_version)
    body, end = codec(spec.request, version).decode(frame, offset)
    shown: Json = {
        "requestApiKey": header.api_key,
        "requestApiVersion": header.api_version,
        "correlationId": header.correlation_id,
        "clientId": header.client_id,
    }
    if header.unknown_tagged_fields:
        shown["unknownTaggedFields"] = tagged_to_json(header.unknown_tagged_fields)
    return _decoded(header.api_key, header.api_version, shown, to_json(body, version), frame[end:])


def decode_response(line: Json) -> Json:
    frame = _frame(line)
    spec, version = _api(line)
    header, offset = decode_response_header(frame, spec.response_header_version(version))
    body_version = _response_body_version(spec, version)
    body, end = codec(spec.response, body_version).decode(frame, offset)
    shown: Json = {"correlationId": header.correlation_id}
    if header.unknown_tagged_fields:
        shown["unknownTaggedFields"] = tagged_to_json(header.unknown_tagged_fields)
    return _decoded(spec.key, version, shown, to_json(body, body_version), frame[end:])


def _decoded(key: int, version: int, header: Json, body: Json, trailing: bytes) -> Json:
    answer: Json = {"key": key, "version": version, "header": header, "body": body}
    if trailing:
        answer["trailing"] = trailing.hex()
    return answer


def encode_request(line: Json) -> Json:
    form = _header(line)
    key, version = (
        _agreed(line, name, form, header_name)
        for name, header_name in (("key", "requestApiKey"), ("version", "requestApiVersion"))
    )
    spec, version = _api({"key": key, "version": version})
    client_id = form.get("clientId")
    if client_id is not None and not isinstance(client_id, str):
        raise ProtocolError(f"header: the client id is a string or null, not {client_id!r}")
    header = RequestHeader(key, version, _integer(form, "correlationId"), client_id, _tags(form))
    body_version = _request_body_version(spec, version)
    body = from_json(spec.request, body_version, line.get("body"))
    frame = encode_request_header(header) + codec(spec.request, body_version).encode(body)
    return _encoded(key, version, frame, line)


def encode_response(line: Json) -> Json:
    spec, version = _api(line)
    form = _header(line)
    correlation_id = _integer(form, "correlationId")
    header = encode_response_header(correlation_id, spec.response_header_version(version), _tags(form))
    body_version = _response_body_version(spec, version)
    body = from_json(spec.response, body_version, line.get("body"))
    return _encoded(spec.key, version, header + codec(spec.response, body_version).encode(body), line)


def _encoded(key: int, version: int, frame: bytes, line: Json) -> Json:
    return {"key": key, "version": version, "hex": (frame + _hex(line, "trailing", "")).hex()}


def _request_body_version(spec: ApiSpec, version: int) -> int:
    """An ApiVersions request of a version not known yet is shown as the newest known one reads it (KIP-511)."""
    return min(version, spec.max_version) if spec.key == API_VERSIONS_KEY else version


def _response_body_version(spec: ApiSpec, version: int) -> int:
    """A broker answers an ApiVersions request of a version it does not know with version 0 (KIP-511)."""
    return 0 if spec.key == API_VERSIONS_KEY and version > spec.max_version else version


def _frame(line: Json) -> bytes:
    return _hex(line, "hex", None)


def _hex(line: Json, name: str, default: str | None) -> bytes:
    text = line.get(name, default)
    if not isinstance(text, str):
        raise ProtocolError(f'"{name}" is missing or not a string')
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise ProtocolError(f'"{name}" is not hex: {error}') from None


def _header(line: Json) -> Json:
    form = line.get("header")
    if not isinstance(form, dict):
        raise ProtocolError('"header" is missing or not an object')
    return form


def _tags(form: Json) -> tuple[tuple[int, bytes], ...]:
    return tagged_from_json(form.get("unknownTaggedFields", []), "header.unknownTaggedFields")


def _integer(form: Json, name: str) -> int:
    number = form.get(name)
    if not isinstance(number, int) or isinstance(number, bool):
        raise ProtocolError(f'"{name}" is missing or not a whole number')
    return number


def _agreed(line: Json, name: str, header: Json, header_name: str) -> int:
    """A number that the line, its header or both give."""
    if name not in line:
        return _integer(header, header_name)
    number = _integer(line, name)
    if header_name in header and header[header_name] != number:
        raise ProtocolError(f"the line says {name} {number}, its header {header_name} {header[header_name]}")
    return number


def _api(line: Json) -> tuple[ApiSpec, int]:
    key, version = _integer(line, "key"), _integer(line, "version")
    spec = API_BY_KEY.get(key)
    if spec is None:
        raise ProtocolError(f"unknown API key {key}")
    return spec, version
