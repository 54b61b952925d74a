"""Log levels set by clients: all of a change or nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from odradek.broker.config.changes import Assignment, Change, Operation
from odradek.broker.config.logger_changes import apply
from odradek.protocol.errors import ErrorCode, KafkaError

LOGGER = 8
NAME = "kafka.server.KafkaApis"
PYTHON = logging.getLogger("odradek.broker.api")


@pytest.fixture(autouse=True)
def level_as_before() -> Iterator[None]:
    kept = PYTHON.level
    PYTHON.setLevel(logging.NOTSET)
    yield
    PYTHON.setLevel(kept)


def change(*assignments: tuple[str, str | None, int], node: str = "1") -> Change:
    return Change(LOGGER, node, [Assignment(*each) for each in assignments])


def test_a_level_is_set_and_forgotten() -> None:
    apply(change((NAME, "DEBUG", Operation.SET)), 1, validate_only=False)
    assert PYTHON.level == logging.DEBUG
    apply(change((NAME, None, Operation.DELETE)), 1, validate_only=False)
    assert PYTHON.level == logging.NOTSET


def test_validation_sets_nothing() -> None:
    apply(change((NAME, "DEBUG", Operation.SET)), 1, validate_only=True)
    assert PYTHON.level == logging.NOTSET


@pytest.mark.parametrize(
    ("refused", "node", "code"),
    [
        (("no.such.logger", "DEBUG", Operation.SET), "1", ErrorCode.INVALID_CONFIG),
        ((NAME, "LOUD", Operation.SET), "1", ErrorCode.INVALID_CONFIG),
        (("root", None, Operation.DELETE), "1", ErrorCode.INVALID_REQUEST),
        ((NAME, "DEBUG", Operation.APPEND), "1", ErrorCode.INVALID_REQUEST),
        ((NAME, None, Operation.SET), "1", ErrorCode.INVALID_REQUEST),
        (("root", "DEBUG", Operation.SET), "2", ErrorCode.INVALID_REQUEST),
        (("root", "DEBUG", Operation.SET), "", ErrorCode.INVALID_REQUEST),
    ],
)
def test_one_refusal_leaves_everything_as_it_was(
    refused: tuple[str, str | None, int], node: str, code: ErrorCode
) -> None:
    first = ("kafka.network.SocketServer", "DEBUG", Operation.SET)
    before = logging.getLogger("odradek.broker.net").level
    with pytest.raises(KafkaError) as caught:
        apply(change(first, refused, node=node), 1, validate_only=False)
    assert caught.value.code is code
    assert logging.getLogger("odradek.broker.net").level == before
