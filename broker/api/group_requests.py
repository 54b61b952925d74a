"""What heartbeats of all kinds of groups have in common: texts that may not be empty."""

from __future__ import annotations

from odradek.protocol.errors import ErrorCode, KafkaError


def invalid(text: str) -> KafkaError:
    """INVALID_REQUEST, with Kafka's words."""
    return KafkaError(ErrorCode.INVALID_REQUEST, text)


def check_text(text: str | None, what: str) -> None:
    """INVALID_REQUEST for a text that is there and has nothing but blanks in it. `what`: the field's name."""
    if text is not None and not text.strip():
        raise invalid(f"{what} can't be empty.")
