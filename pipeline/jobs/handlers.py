"""The handler of the retry pipeline: loads it by name, and calls it, in a child process if it is isolated."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from odradek.pipeline.rows import spare_imports

if TYPE_CHECKING:
    import pyarrow as pa


class ProcessEnded(Exception):
    """The call ended its process, or took longer than the timeout."""


class Isolated:
    """Calls a function in a child process, and starts a new child if it has ended. It needs a system that forks.

    ``timeout_s``: the limit of a call; None: no limit. Results are pickled. An exception ends the child.
    """

    def __init__(self, function: Callable[[Any], Any], timeout_s: float | None = None) -> None:
        self._function, self._timeout_s = function, timeout_s
        self._child: tuple[Any, Connection] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def __call__(self, argument: Any) -> Any:
        process, connection = self._child = self._child or self._start()
        connection.send(argument)
        if not connection.poll(self._timeout_s):
            self._end()
            raise ProcessEnded(f"the handler took longer than {self._timeout_s:g} s")
        try:
            return connection.recv()
        except EOFError:
            process.join()
            code = process.exitcode
            how = f"by {signal.Signals(-code).name}" if code < 0 else f"with status {code}"
            self._end()
            raise ProcessEnded(f"the handler's process ended {how}") from None

    def _start(self) -> tuple[Any, Connection]:
        context = multiprocessing.get_context("fork")  # the function need not be picklable
        mine, its = context.Pipe()
        process = context.Process(target=_serve, args=(self._function, mine, its), daemon=True)
        process.start()
        its.close()
        return process, mine

    def _end(self) -> None:
        if self._child is not None:
            process, connection = self._child
            self._child = None
            connection.close()
            process.kill()
            process.join()


def _serve(function: Callable[[Any], Any], parents: Connection, connection: Connection) -> None:
    parents.close()  # else the child would not notice the end of its parent
    while True:
        try:
            argument = connection.recv()
        except EOFError:
            return
        connection.send(function(argument))


_MAX_ERROR_CHARS = 2000


class Message(NamedTuple):
    """A message for a handler. ``retry_number``: 0 at the first attempt. ``timestamp``: milliseconds since 1970."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    retry_number: int
    origin: str
    """Topic, partition and offset of the original message: the same at every attempt."""


Handler = Callable[[Message], Any]
"""Processes one message. An exception is a failure, and its text is the error."""

BatchHandler = Callable[[Sequence[Message]], Sequence[Any]]
"""Processes several messages. Returns None for each success, and an error (text or exception) for each failure. An
exception is a failure of all messages."""


class Calling(NamedTuple):
    """How the handler is called."""

    by_batch: bool = False
    isolated: bool = False
    """In a process of its own (`odradek.pipeline.jobs.handlers`)."""
    timeout_s: float | None = None
    """The limit of an isolated call."""

    @contextmanager
    def errors_of(self, handler: Callable[[Any], Any]) -> Iterator[Callable[[Any], Any]]:
        """Yield a function for the error of a message, or for the errors of a list of messages. None: no error."""
        judge = partial(_batch_errors if self.by_batch else _error_of, handler)
        if not self.isolated:
            yield judge
            return
        with Isolated(judge, self.timeout_s) as call:

            def isolated(given: Any) -> Any:
                try:
                    return call(given)
                except ProcessEnded as error:
                    return [str(error)] * len(given) if self.by_batch else str(error)

            yield isolated


def handling(handler: Callable[[Any], Any], calling: Calling) -> Callable[[Iterable[pa.RecordBatch]], Any]:
    """The function for `mapInArrow`: adds the column ``error`` to the rows."""

    def handle(chunks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        spare_imports()
        with calling.errors_of(handler) as judge:
            for chunk in chunks:
                messages = [_message(row) for row in chunk.to_pylist()]
                errors = judge(messages) if calling.by_batch else [judge(message) for message in messages]
                columns = [*chunk.columns, pyarrow.array(errors, "string")]
                yield pyarrow.RecordBatch.from_arrays(columns, names=[*chunk.schema.names, "error"])

    return handle


def handling_in_order(
    handler: Callable[[Any], Any], retries: int, calling: Calling
) -> Callable[[Iterable[pa.RecordBatch]], Any]:
    """The same for rows that are ordered by key. After a failure that is retried, the later rows of its key are held.

    The columns ``behind`` and ``behind_origin`` name the attempt that a held row waits for. The handler does not get
    held rows. A message that has failed after ``retries`` retries holds no other message.
    """

    def handle(chunks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        spare_imports()
        waiting: tuple[bytes, int, str] | None = None  # key, number and origin of the last failure
        with calling.errors_of(handler) as judge:
            for chunk in chunks:
                found: list[tuple[str | None, int | None, str | None]] = []
                for row in chunk.to_pylist():
                    if waiting is not None and row["key"] == waiting[0]:
                        found.append((None, *waiting[1:]))
                        continue
                    error = judge(_message(row))
                    found.append((error, None, None))
                    if error is not None and row["key"] is not None and row["retry_number"] < retries:
                        waiting = row["key"], row["retry_number"], row["origin"]
                kinds = ("string", "int32", "string")
                columns = [pyarrow.array([each[at] for each in found], kind) for at, kind in enumerate(kinds)]
                names = [*chunk.schema.names, "error", "behind", "behind_origin"]
                yield pyarrow.RecordBatch.from_arrays([*chunk.columns, *columns], names=names)

    return handle


def _message(row: dict[str, Any]) -> Message:
    place = row["topic"], row["partition"], row["offset"], row["timestamp_ms"]
    headers = tuple((header["key"], header["value"]) for header in row["headers"] or ())
    return Message(*place, row["key"], row["value"], headers, row["retry_number"], row["origin"])


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
    """An error as text: the type and the message of an exception. Long texts are cut."""
    text = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)
    return text[:_MAX_ERROR_CHARS]


def load_handler(name: str) -> Callable[[Any], Any]:
    """The function of ``package.module:function`` or ``path/to/file.py:function``. ValueError if there is none."""
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
    """A module from a file. It is pickled by value, because Spark's workers cannot import it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    importlib.import_module("pyspark.cloudpickle").register_pickle_by_value(module)
    return module
