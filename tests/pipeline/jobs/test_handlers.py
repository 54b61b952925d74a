"""The user's function: how it is named, called and what its errors become."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from odradek.pipeline.jobs.handlers import Message, describe, handling, load_handler

pa = pytest.importorskip("pyarrow")


def test_handlers_by_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def work(message): raise ValueError(message)")
    pytest.importorskip("pyspark")
    with pytest.raises(ValueError, match="hello"):
        load_handler(f"{tmp_path / 'mine.py'}:work")("hello")
    for wrong in ("work", f"{tmp_path / 'mine.py'}:play", "no.such.module:work", "absent.py:work"):
        with pytest.raises(ValueError, match="handler"):
            load_handler(wrong)


def chunk(*values: bytes) -> Any:
    """A batch of messages as the job hands it over."""
    return pa.RecordBatch.from_pylist(
        [
            {
                "topic": "orders",
                "partition": 1,
                "offset": number,
                "timestamp_ms": 5,
                "key": None,
                "value": value,
                "headers": [{"key": "h", "value": b"1"}],
                "retry_number": 2,
                "origin": f"orders/1/{number}",
            }
            for number, value in enumerate(values)
        ]
    )


def errors(handler: Any, *values: bytes, by_batch: bool = False) -> list[str | None]:
    [answered] = handling(handler, by_batch=by_batch)([chunk(*values)])
    assert answered.schema.names[-1] == "error"
    found: list[str | None] = answered.column("error").to_pylist()
    return found


def test_an_exception_is_the_failure_of_its_message() -> None:
    seen: list[Message] = []

    def work(message: Message) -> None:
        seen.append(message)
        if message.value == b"bad":
            raise ValueError("no such order")

    assert errors(work, b"good", b"bad") == [None, "ValueError: no such order"]
    assert seen[0] == Message("orders", 1, 0, 5, None, b"good", (("h", b"1"),), 2, "orders/1/0")


def test_a_long_error_is_cut() -> None:
    def work(message: Message) -> None:
        raise ValueError("x" * 5000)

    [error] = errors(work, b"bad")
    assert error == "ValueError: " + "x" * (2000 - len("ValueError: "))


def test_a_handler_of_batches_answers_for_each_message() -> None:
    def work(messages: Sequence[Message]) -> list[Any]:
        return [None if each.value == b"good" else KeyError("gone") if each.offset else "text" for each in messages]

    assert errors(work, b"bad", b"good", b"bad", by_batch=True) == ["text", None, "KeyError: 'gone'"]


def test_a_handler_of_batches_that_fails_or_miscounts_fails_them_all() -> None:
    def fail(messages: Sequence[Message]) -> list[Any]:
        raise OSError("closed")

    def miscount(messages: Sequence[Message]) -> list[Any]:
        return [None]

    assert errors(fail, b"a", b"b", by_batch=True) == ["OSError: closed"] * 2
    assert errors(miscount, b"a", b"b", by_batch=True) == ["ValueError: the handler answered 1 of 2 messages"] * 2


def test_errors_as_text() -> None:
    assert describe(ValueError("why")) == "ValueError: why"
    assert describe("why") == "why"
