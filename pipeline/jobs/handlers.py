"""The user's function in the retry pipeline: how it is called, and how a command line names it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_ERROR_CHARS = 2000


class Message(NamedTuple):
    """What a handler gets. ``retry_number``: 0 at the first attempt. ``timestamp``: milliseconds since 1970."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    retry_number: int
    origin: str
    """Topic, partition and offset where the journey began: the same at every attempt."""


Handler = Callable[[Message], Any]
"""Processes one message; an exception is a failure, with its text as the error."""

BatchHandler = Callable[[Sequence[Message]], Sequence[Any]]
"""Processes some messages; returns None for each that went well and an error (text or exception) for each other. An
exception is a failure of all of them."""


def handling(handler: Callable[[Any], Any], *, by_batch: bool) -> Callable[[Iterable[pa.RecordBatch]], Any]:
    """The function that Spark maps over Arrow batches: their rows with what went wrong in the column ``error``."""

    def handle(chunks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        for chunk in chunks:
            messages = [_message(row) for row in chunk.to_pylist()]
            errors = (
                _batch_errors(handler, messages) if by_batch else [_error_of(handler, message) for message in messages]
            )
            column = pyarrow.array([None if error is None else error[:_MAX_ERROR_CHARS] for error in errors], "string")
            yield pyarrow.RecordBatch.from_arrays([*chunk.columns, column], names=[*chunk.schema.names, "error"])

    return handle


def _message(row: dict[str, Any]) -> Message:
    headers = tuple((header["key"], header["value"]) for header in row["headers"] or ())
    return Message(
        row["topic"],
        row["partition"],
        row["offset"],
        row["timestamp_ms"],
        row["key"],
        row["value"],
        headers,
        row["retry_number"],
        row["origin"],
    )


def _error_of(handler: Callable[[Message], Any], message: Message) -> str | None:
    try:
        handler(message)
    except Exception as error:
        return describe(error)
    return None


def _batch_errors(handler: Callable[[Any], Any], messages: list[Message]) -> list[str | None]:
    try:
        results = list(handler(messages))
        if len(results) != len(messages):
            raise ValueError(f"the handler answered {len(results)} of {len(messages)} messages")
    except Exception as error:
        return [describe(error)] * len(messages)
    return [None if result is None else describe(result) for result in results]


def describe(error: Any) -> str:
    """An error as text: the kind and the message of an exception."""
    return f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)


def load_handler(name: str) -> Callable[[Any], Any]:
    """The function that ``package.module:function`` or ``path/to/file.py:function`` names; ValueError if none does."""
    where, colon, attribute = name.rpartition(":")
    if not colon:
        raise ValueError(f"a handler is module:function or file.py:function, not {name!r}")
    try:
        module = _from_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
        found: Callable[[Any], Any] = getattr(module, attribute)
    except (ImportError, OSError, AttributeError) as error:
        raise ValueError(f"handler {name}: {error}") from None
    return found


def _from_file(path: Path) -> Any:
    """A module from a file; Spark's workers get it by value, as they could not import it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    importlib.import_module("pyspark.cloudpickle").register_pickle_by_value(module)
    return module
