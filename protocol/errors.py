"""The three kinds of failure that everything above this package knows, and Kafka's error codes.

* `ProtocolError`: a request or response is not what the protocol says. It ends the connection.
* `CorruptDataError`: data that is kept (a batch, its records, a file of a log directory) is damaged. It says nothing
  about clients: recovery cuts the log there, `odradek dump` prints it, a request that meets it is answered its `code`.
* `KafkaError`: the answer to a request, with one of Kafka's codes.
"""

from __future__ import annotations

from struct import error as struct_error
from typing import ClassVar, Final, TypeVar

from odradek.protocol.generated.error_codes import ErrorCode as ErrorCode

E = TypeVar("E", bound=BaseException)


class ProtocolError(Exception):
    """Bytes that are not what the protocol says, or a value that it cannot express. A connection ends on it."""


class TooManyElementsError(ProtocolError):
    """More elements in all arrays of a message together than its reader takes."""


ENCODING_ERRORS: Final = (ProtocolError, struct_error, TypeError, AttributeError, ValueError, OverflowError)
"""The errors of an encoder for a value that a version cannot express. They become a ProtocolError."""


class CorruptDataError(Exception):
    """Base of all errors for damaged data. The subclass says what is damaged, `message` says how.

    It is no `KafkaError`: only the code that answers a request turns it into one (`code` is what Kafka answers then).
    """

    code: ClassVar[ErrorCode] = ErrorCode.CORRUPT_MESSAGE

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class KafkaError(Exception):
    """A failure with a code of Kafka's protocol, to be answered to the client."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def again(self) -> KafkaError:
        """A new error like this one, to raise where this one is kept: see `as_value`."""
        return KafkaError(self.code, self.message)

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}" if self.message else self.code.name


def code_and_text(error: KafkaError | None) -> tuple[ErrorCode, str | None]:
    """The code and the text that answer an element of a request; `error`: None if it was served."""
    return (ErrorCode.NONE, None) if error is None else (error.code, error.message)


def as_value(error: E) -> E:
    """A caught exception that is kept: without the frames that it came through.

    Frames refer to whatever was under way, the place that keeps the exception among it. So they would be a circle of
    references, which only the garbage collector ends. A kept exception that is raised would collect the frames of all
    who meet it: raise one like it (`KafkaError.again`).
    """
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error
