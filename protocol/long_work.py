"""Work on large batches that takes too long to be done between two requests."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import Any, Final, Generic, TypeVar

from odradek.protocol.compression import DEFAULT_MAX_INFLATED, InflatesTooFarError
from odradek.protocol.errors import CorruptDataError, ErrorCode, as_value
from odradek.protocol.record_batch import RecordBatch, effort, read_batch
from odradek.protocol.records import Buffer, Record

MAX_INFLATED_OF_REQUEST: Final = 4 * DEFAULT_MAX_INFLATED
"""How many bytes the large batches of one request may inflate to together."""


T = TypeVar("T")
_STEP: Final = 1000
"""So many records are handled one by one until the work gives way."""
MOST_EFFORT: Final = 20_000
"""A batch that takes more `effort` is a large one."""
_MOST_INFLATED: Final = 512 * 1024
"""And so is one that inflates to more bytes."""
_MOST_CONVERTED: Final = 128 * 1024
"""So many bytes of records are converted to another format between two requests."""


class LargeBatch(Exception):
    """The records of a batch are too many to be looked at between two requests. Nothing was changed."""


class OverBudgetError(CorruptDataError):
    """The large batches of a request inflate too far together."""

    code = ErrorCode.MESSAGE_TOO_LARGE

    def __init__(self) -> None:
        super().__init__(f"The batches of a request inflate to more than {MAX_INFLATED_OF_REQUEST} bytes together")


class LongWork:
    """Work that is done where it may take its time. `left`: how many bytes it may still inflate.

    This one is done in place; `odradek.broker.worker` has the one for a thread.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_INFLATED_OF_REQUEST) -> None:
        self.left = left

    def give_way(self) -> None:
        """Called every few milliseconds: others may run now. The work ends if this raises."""

    def inflated(self, inflate: Callable[[int], Buffer], limit: int = DEFAULT_MAX_INFLATED) -> Buffer:
        """What `inflate` returns, which is told how many bytes that may be.

        Raises InflatesTooFarError for more than `limit` bytes, and as `spend`.
        """
        allowed = min(limit, self.left)
        try:
            body = inflate(allowed)
        except InflatesTooFarError:
            self.spend(limit)
            raise
        self.spend(len(body))
        return body

    def spend(self, size: int) -> None:
        """Take from what is left. Raises OverBudgetError if that is less; then nothing is left."""
        self.left -= size
        if self.left < 0:
            self.left = 0
            raise OverBudgetError

    def slowly(self, records: Iterable[T]) -> Iterator[T]:
        """The same records; the work gives way between them."""
        for number, record in enumerate(records):
            if number % _STEP == _STEP - 1:
                self.give_way()
            yield record

    def records(self, batch: RecordBatch) -> Iterator[Record]:
        """The records of a batch, slowly."""
        return self.slowly(batch.records())

    def keys(self, batch: RecordBatch) -> Iterator[tuple[int, bytes | None, bool]]:
        return self.slowly(batch.iter_keys())


class ShortWork(LongWork):
    """Work between two requests: InflatesTooFarError for a batch that inflates to more than some hundred kB."""

    __slots__ = ()

    def records(self, batch: RecordBatch) -> Iterator[Record]:
        return batch.records(_MOST_INFLATED)

    def keys(self, batch: RecordBatch) -> Iterator[tuple[int, bytes | None, bool]]:
        return batch.iter_keys(_MOST_INFLATED)


SHORT: Final = ShortWork()


class BriefConversion(LongWork):
    """The conversions of one request between two others: LargeBatch for what takes more than some milliseconds."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(_MOST_CONVERTED)

    def spend(self, size: int) -> None:
        if size > self.left:
            raise LargeBatch
        self.left -= size


class LongStep(Generic[T]):
    """Work on a copy of a large batch, which uses nothing that others change meanwhile. A thread may `do` it."""

    __slots__ = ("_error", "_result", "_run")

    def __init__(self, run: Callable[[LongWork], T]) -> None:
        self._run: Callable[[LongWork], T] | None = run
        self._result: Any = None
        self._error: Exception | None = None

    def do(self, work: LongWork) -> None:
        """Do it."""
        run, self._run = self._run, None
        assert run is not None
        try:
            self._result = run(work)
        except Exception as error:
            self._error = as_value(error)

    def outcome(self) -> T:
        """What it found, or raises what it met. It is done now if nobody has done it."""
        if self._run is not None:
            self.do(LongWork())
        error, self._error = self._error, None
        if error is not None:
            raise error
        result: T = self._result
        return result


def look_into(batch: RecordBatch, find: Callable[[RecordBatch, LongWork], T]) -> Generator[LongStep[T], None, T]:
    """What `find` returns for a batch, which is found at once. For a large batch a step is yielded before."""
    if effort(batch.data) <= MOST_EFFORT:
        try:
            return find(batch, SHORT)
        except InflatesTooFarError:
            pass
    step = LongStep(partial(find, read_batch(bytes(batch.data))))
    yield step
    return step.outcome()
