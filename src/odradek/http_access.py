"""HTTP requests, and the rules for them: the Host header, the token, the content type.

JSON in requests and text in responses are here, too. Nothing here needs the packages of a server.
"""

from __future__ import annotations

import base64
import hmac
import importlib
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "DELETE")
"""Methods whose body is not read. A page of another server has to ask before it sends DELETE, and is refused."""
_OF_PAGES = ("origin", "sec-fetch-site")
"""Headers that browsers alone send."""


class HttpError(Exception):
    """A request is refused. ``status``: of HTTP; ``headers``: what the answer has to have."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """``target``: path and query as they came. ``headers``: by lower-case names. ``server``, ``client``: host and port
    of each end. ``next_piece``: gives the next bytes of the body, none at its end. ``attended``: awaits a function once
    the body is read, and cancels it when the client hangs up; ClientGoneError then."""

    method: str
    target: str
    headers: Mapping[str, str]
    server: tuple[str, int]
    client: tuple[str, int]
    next_piece: Callable[[], Awaitable[bytes]]
    attended: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]

    @property
    def path(self) -> str:
        """The path as it came, so that an encoded slash is none."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        """Names and values, in their order."""
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True)

    @property
    def content_type(self) -> str:
        """The media type of the body, without parameters; empty if none is named."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def body(self, largest: int) -> bytes:
        """The whole body. HttpError (413) for one of more than ``largest`` bytes; ClientGoneError."""
        body = bytearray()
        while piece := await self.next_piece():
            body += piece
            if len(body) > largest:
                raise HttpError(413, f"the body is larger than {largest} bytes")
        return bytes(body)


class Access:
    """The rules for each request.

    ``hosts``: what the Host header may name, None for anything. ``token``: what a request has to show, as a bearer
    token or as the password of a user; None for nothing. ``kinds``: the content types of bodies, the usual one first.
    ``free``: paths that need no token.
    """

    def __init__(
        self, hosts: frozenset[str] | None, token: str | None, kinds: Sequence[str], free: Collection[str] = ()
    ) -> None:
        self._hosts = hosts
        self._token = token
        self._kinds = kinds
        self._free = free

    def check(self, request: HttpRequest) -> None:
        """HttpError: 421 for another host, 401 without the token, 415 for a body of another content type.

        A web page of another server may send three content types and none without asking (the Fetch standard's
        no-cors requests). Those three are no JSON, and a request without one is refused if a browser sends it. The
        host keeps out pages whose name was made to resolve to this machine.
        """
        name = _host_name(request.headers.get("host", ""))
        if self._hosts is not None and name.lower() not in self._hosts:
            raise HttpError(421, f"this server is not {name!r}: use its address")
        if self._token is not None and request.path not in self._free:
            shown = _token_in(request.headers.get("authorization", ""))
            if not hmac.compare_digest(shown.encode(), self._token.encode()):
                raise HttpError(401, "the token is missing or wrong: Authorization: Bearer TOKEN")
        if request.method not in _SAFE_METHODS:
            self._check_kind(request)

    def _check_kind(self, request: HttpRequest) -> None:
        kind, usual = request.content_type, self._kinds[0]
        if kind and kind not in self._kinds:
            hint = "; curl -d needs -H 'Content-Type: ...'" if kind == "application/x-www-form-urlencoded" else ""
            raise HttpError(415, f"unsupported Content-Type {kind!r}: the body is JSON, send {usual}{hint}")
        if not kind and any(name in request.headers for name in _OF_PAGES):
            raise HttpError(415, f"a web page has to say what it sends: Content-Type: {usual}")


def checked(what: str, packages: Sequence[str], extra: str, host: str, token: str | None) -> frozenset[str] | None:
    """The host names that requests may use, None for any. ValueError or ImportError if the server cannot run.

    ``what``: the server, as errors name it; ``extra``: the extra that has the packages.
    """
    try:
        for package in packages:
            importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f'{what} needs more: pip install "odradek[{extra}]" ({error})') from error
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise ValueError("a token is printable ASCII text, and not empty")
    hosts = _allowed_hosts(host)
    if hosts is None and token is None:
        raise ValueError(f"others can reach {host}: {what} that is not local needs a token")
    return hosts


def _allowed_hosts(host: str) -> frozenset[str] | None:
    """The names that a Host header may have if only this machine reaches the server; None if others do."""
    if host == "localhost":
        return _LOCAL_NAMES
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        return None
    return _LOCAL_NAMES | {host} if is_local else None


def _host_name(shown: str) -> str:
    """The name in a Host header, without the port."""
    name, colon, port = shown.rpartition(":")
    return (name if colon and port.isdecimal() else shown).strip("[]")


def _token_in(authorization: str) -> str:
    """The token that a header shows; empty for none."""
    scheme, _, shown = authorization.partition(" ")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(shown).decode().partition(":")[2]
        except ValueError:
            return ""
    return shown if scheme.lower() == "bearer" else ""


def json_of(body: bytes) -> Any:
    """The JSON in a body. Raises ValueError for other text, for lone surrogates, and for too many values."""
    marks = sum(map(body.count, (b",", b":", b"[", b"{")))
    if marks > _MOST_MARKS:
        raise ValueError(f"the body has more than {_MOST_MARKS} commas, colons and brackets: send it in parts")
    try:
        text = body.decode("utf-8-sig")
        found = json.loads(text, parse_constant=_no_number)
        if _HALF.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"the body is not JSON: {reason}") from None
    return found


_MOST_MARKS = 4_000_000
"""While the standard library makes objects of them, which takes half a second, no other thread runs."""
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""The beginning of what may be half a character (a surrogate)."""


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def text_bytes(text: str) -> bytes:
    """The bytes of a response. A lone surrogate, which has no bytes, stays an escape, as in JSON."""
    return text.encode("utf-8", "backslashreplace")
