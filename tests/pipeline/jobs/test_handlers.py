"""The user's function: how it is named, called and what its errors become."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from odradek.pipeline.jobs.handlers import (
    Calling,
    Isolated,
    Message,
    ProcessEnded,
    describe,
    handling,
    handling_in_order,
    load_handler,
)

pa = pytest.importorskip("pyarrow")


def test_retry_handler_is_loaded_by_name(tmp_path: Path) -> None:
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


def errors(handler: Any, *values: bytes, by_batch: bool = False, isolated: bool = False) -> list[str | None]:
    [answered] = handling(handler, Calling(by_batch, isolated))([chunk(*values)])
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


def poison(message: Message) -> object:
    match message.value:
        case b"kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case b"exit":
            os._exit(3)
        case b"bad":
            raise ValueError("no such order")
    return object()  # what a handler returns is nobody's business, and need not be one that pickles


def test_an_isolated_handler_survives_what_ends_its_process() -> None:
    assert errors(poison, b"kill", b"good", b"exit", b"bad", b"good", isolated=True) == [
        "the handler's process ended by SIGKILL",
        None,
        "the handler's process ended with status 3",
        "ValueError: no such order",
        None,
    ]


def test_an_isolated_handler_of_batches_fails_whole() -> None:
    def work(messages: Sequence[Message]) -> list[object]:
        return [poison(each) and None for each in messages]

    assert errors(work, b"good", b"good", by_batch=True, isolated=True) == [None, None]
    ended = "the handler's process ended by SIGKILL"
    assert errors(work, b"good", b"kill", by_batch=True, isolated=True) == [ended, ended]


def test_retry_errors_are_written_as_text() -> None:
    assert describe(ValueError("why")) == "ValueError: why"
    assert describe("why") == "why"


def ordered(*rows: tuple[bytes | None, bytes, int]) -> Any:
    """A batch of (key, value, retry_number)."""
    part = chunk(*(value for _, value, _ in rows)).to_pylist()
    for line, (key, _, number) in zip(part, rows, strict=True):
        line.update(key=key, retry_number=number)
    schema = pa.schema([pa.field("key", pa.binary()) if each.name == "key" else each for each in chunk(b"").schema])
    return pa.RecordBatch.from_pylist(part, schema=schema)


def test_in_order_a_key_is_held_behind_its_failure() -> None:
    seen: list[bytes | None] = []

    def work(message: Message) -> None:
        seen.append(message.value)
        if (message.value or b"").startswith(b"bad"):
            raise ValueError("no")

    chunks = [
        ordered((None, b"bad 1", 0), (None, b"a", 0), (b"k", b"b", 0), (b"k", b"bad 2", 1), (b"k", b"bad 3", 0)),
        ordered((b"k", b"c", 0), (b"l", b"bad 4", 2), (b"l", b"d", 0), (b"m", b"e", 0)),
    ]
    found = [row for part in handling_in_order(work, 2, Calling())(chunks) for row in part.to_pylist()]
    assert seen == [b"bad 1", b"a", b"b", b"bad 2", b"bad 4", b"d", b"e"]
    told = {row["value"]: (row["error"], row["behind"], row["behind_origin"]) for row in found}
    failed = ("ValueError: no", None, None)
    assert {value: each for value, each in told.items() if each != (None, None, None)} == {
        b"bad 1": failed,
        b"bad 2": failed,
        b"bad 3": (None, 1, "orders/1/3"),
        b"c": (None, 1, "orders/1/3"),
        b"bad 4": failed,  # its retries are used up: it holds nobody
    }


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system that forks")


@needs_fork
def test_calls_share_a_process_that_ends_with_the_block() -> None:
    with Isolated(lambda number: (number + 1, os.getpid())) as call:
        (first, process), (second, again) = call(1), call(2)
        assert (first, second) == (2, 3)
        assert process == again != os.getpid()
        (child,) = multiprocessing.active_children()
        assert child.pid == process
    assert multiprocessing.active_children() == []


@needs_fork
def test_an_exception_ends_the_process_and_the_next_call_has_another() -> None:
    def work(number: int) -> int:
        if number == 1:
            raise SystemExit(7)
        return os.getpid()

    with Isolated(work) as call:
        process = call(0)
        with pytest.raises(ProcessEnded, match="ended with status 7"):
            call(1)
        assert call(0) != process


@needs_fork
def test_a_call_that_hangs_is_ended() -> None:
    hang = Isolated(lambda _: threading.Event().wait(), timeout_s=0.2)
    with hang, pytest.raises(ProcessEnded, match=r"took longer than 0\.2 s"):
        hang(None)
    with Isolated(lambda _: "done", timeout_s=60) as call:
        assert call(None) == "done"
    assert multiprocessing.active_children() == []
