"""Requests to a control API, and the errors that come back."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from odradek.broker.config.broker_config import ConfigError
from odradek.broker.facade.console import PageLooks
from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.generated.blocking.coordinators import TransactionHold
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.info import LagUnknownError
from odradek.broker.facade.records.record import DecodedRecord, Records, StoredRecord, holder_of
from odradek.broker.facade.remote.json_values import RemoteError, RemoteHandle, decoded, encoded
from odradek.broker.facade.remote.operations import HANDLES, PLACE, Operation, operation_of, over_http
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.mistakes import ByName
from odradek.broker.releases.release import ReleaseError
from odradek.protocol.errors import ErrorCode, KafkaError

_PATIENCE_S = 60.0
_LONGEST_WAIT_S = 7 * 86400.0
_OF_RECORDS = ("topic", "partition", "start", "isolation", "control", "limit")
"""The arguments of `records` and `wait` that choose records."""
_ERRORS: dict[str, type[Exception]] = {
    each.__name__: each
    for each in (
        BrokerClosedError,
        ConfigError,
        ImportError,
        KeyError,
        LagUnknownError,
        LookupError,
        OSError,
        ReleaseError,
        RuntimeError,
        TimeoutError,
        TypeError,
        ValueError,
    )
}


@over_http(TransactionHold)
class RemoteTransactionHold(TransactionHold):
    """The same as `TransactionHold`, over HTTP."""

    def __init__(self, remote: Transport, identity: str) -> None:
        self._remote = remote
        self._identity = identity

    def __repr__(self) -> str:
        there = "reached" if self.reached else "not reached"
        return f"<RemoteTransactionHold {self._identity}, {there}>"


class Transport:
    """The address of a control API, and its token. Usable from any thread: each request has its own connection."""

    def __init__(self, url: str, token: str | None) -> None:
        """ValueError for a URL that is not ``http://HOST:PORT``."""
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname or parts.port is None or parts.path not in ("", "/"):
            raise ValueError(f"{url!r}: expected http://HOST:PORT, as `odradek serve --control-port` prints it")
        self.url = f"http://{parts.netloc}"
        self._address = parts.hostname, parts.port
        self._token = token

    def __repr__(self) -> str:
        return f"<Transport to {self.url}>"

    def beside(self, url: str) -> Transport:
        """Another control API of the same process, which is reached at the same host."""
        return Transport(f"{self.url.rpartition(':')[0]}:{urlsplit(url).port}", self._token)

    def call(self, member: str, /, **arguments: Any) -> Any:
        """Execute an operation of the broker."""
        return self.operate(BlockingBroker, member, None, arguments)

    def operate(self, owner: type, member: str, identity: str | None, arguments: dict[str, Any]) -> Any:
        """The result of an operation, of the type that its method declares; raises what the method raised."""
        operation = operation_of(owner, member)
        answer = self.ask(operation, identity, arguments)
        if operation.result is Records:
            return self._records(identity, arguments, answer)
        return self._result(operation, answer)

    def ask(self, operation: Operation, identity: str | None, arguments: dict[str, Any]) -> Any:
        """The JSON of the response. Raises the error in it, or BrokerClosedError if no server answers."""
        path = PLACE.sub(f"/{quote(identity or '', safe='')}", operation.path)
        patience_s = min(arguments.get("timeout") or 0.0, _LONGEST_WAIT_S)
        if "timeout" in arguments:
            arguments = {**arguments, "timeout": patience_s}
        given = encoded(arguments)
        body = None
        if operation.method == "POST":
            body = json.dumps(given).encode()
        elif given := {name: _text(each) for name, each in given.items() if each is not None}:
            path += "?" + urlencode(given)
        status, answer = self._exchange(operation.method, path, body, patience_s + _PATIENCE_S)
        if status != 200:
            raise remote_error(answer["error"])
        return answer

    def _exchange(self, method: str, path: str, body: bytes | None, patience_s: float) -> tuple[int, Any]:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        connection = http.client.HTTPConnection(*self._address, timeout=patience_s)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise BrokerClosedError(not_answered(self.url, error)) from error
        finally:
            connection.close()

    def _records(self, topic: str | None, arguments: dict[str, Any], answer: list[Any]) -> Records:
        """The records of an answer. `Records.decoded` asks for them again, decoded."""
        given = {"topic": topic, **{name: each for name, each in arguments.items() if name in _OF_RECORDS}}

        def decode() -> Iterator[DecodedRecord]:
            found = self.ask(operation_of(PageLooks, "decoded_records"), None, given)
            return (decoded(DecodedRecord, each, "records", strict=False) for each in found)

        records = [decoded(StoredRecord, each, "records", strict=False) for each in answer]
        place = {name: each for name, each in given.items() if name != "control"}
        return Records(lambda: iter(records), decode, holder_of(**place))

    def _result(self, operation: Operation, answer: Any) -> Any:
        if operation.result not in HANDLES:
            found = decoded(operation.result, answer, operation.name, strict=False)
            by_name = isinstance(found, dict) and operation.owner is BlockingBroker and not operation.parameters
            return ByName(f"broker.{operation.member}", found) if by_name else found
        identity = str(answer["id"])
        if operation.result is TransactionHold:
            return RemoteTransactionHold(self, identity)
        if operation.result is Undo:
            return Undo(lambda: self.operate(Undo, "undo", identity, {}), operation.member)
        return RemoteHandle(identity, str(answer["path"]))


def not_answered(url: str, error: Exception) -> str:
    """Why no control API has answered, and how to start one."""
    if isinstance(error, OSError) and not isinstance(error, http.client.HTTPException):
        said = f"no control API answers at {url}: {error.strerror or error}"
    else:
        said = f"what answers at {url} is no control API ({type(error).__name__})"
    return f"{said}; `odradek serve --control-port 9090` starts one"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def remote_error(told: dict[str, Any]) -> Exception:
    """The error in a response: its class, its message, and Kafka's code if Kafka would refuse the request."""
    kind, message = told["type"], told["message"]
    if "code" in told:
        code = ErrorCode[told["code"]]
        return KafkaError(code, None if message == code.name else message)
    if kind == "TokenError":
        return PermissionError(message)
    return _ERRORS.get(kind, RemoteError)(message)
