"""Faults of the schema registry beside a broker."""

from __future__ import annotations

from typing import Any

from odradek.broker.faults.fault import Fault

_METHODS = ("GET", "POST", "PUT", "DELETE")


class RegistryFault(Fault):
    """A fault of the schema registry: matching requests get an error, a late answer, or both.

    `method` and `path`: the method and the beginning of the path of the requests, such as ``"/subjects/orders"``
    (None = any). `code`: the error, as ``50001`` (its first three digits are the HTTP status) or an HTTP status from
    400 on; without one the request is served. `delay_ms`: so much later, in real time, as clients of HTTP wait.
    `times`, `skip`, `hits` and `wait_hit` are those of `Fault`. Requests of Kafka's protocol never match.

    ValueError without a code and a delay, and for invalid values.
    """

    __slots__ = ("code", "method", "path")

    def __init__(
        self,
        method: str | None = None,
        path: str | None = None,
        times: int | None = None,
        *,
        code: int | None = None,
        delay_ms: int = 0,
        skip: int = 0,
    ) -> None:
        super().__init__(times=times, delay_ms=delay_ms, skip=skip)
        if method is not None and method.upper() not in _METHODS:
            raise ValueError(f"method={method!r}: expected one of {', '.join(_METHODS)}")
        if path is not None and not path.startswith("/"):
            raise ValueError(f"path={path!r}: a path begins with a slash")
        if code is not None and not (400 <= code <= 599 or 40000 <= code <= 59999):
            raise ValueError(f"code={code}: expected an HTTP status from 400 on, or five digits such as 50001")
        if code is None and not delay_ms:
            raise ValueError("a fault of the registry has a code, a delay_ms, or both")
        self.method = None if method is None else method.upper()
        self.path = path
        self.code = code

    def __repr__(self) -> str:
        names = ("method", "path", "times", "code", "delay_ms", "skip")
        return f"RegistryFault({', '.join(f'{name}={each!r}' for name in names if (each := getattr(self, name)))})"

    @property
    def acts(self) -> bool:
        """See `Fault`."""
        return self.code is not None

    def matches(self, context: Any, request: Any) -> bool:
        """See `Fault`: never."""
        return False

    def meets(self, method: str, path: str) -> bool:
        """Whether the fault applies to a request of the registry; if so, it is counted as a hit."""
        if self.method not in (None, method) or not path.startswith(self.path or ""):
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        if self._passed < self.skip:
            self._passed += 1
            return False
        self.note_hit()
        return True
