"""The two kinds of failure of this package, and Kafka's error codes."""

from __future__ import annotations

from odradek.protocol.error_codes import ErrorCode

__all__ = ["ErrorCode", "KafkaError", "ProtocolError"]


class ProtocolError(Exception):
    """Bytes that are not what the protocol says, or a value that it cannot express. A connection ends on it."""


class KafkaError(Exception):
    """A failure with a code of Kafka's protocol, to be answered to the client."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}" if self.message else self.code.name
