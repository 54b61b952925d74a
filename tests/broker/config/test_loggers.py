"""Log levels by Kafka's logger names."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.broker.config import loggers
from odradek.broker.config.changes import Assignment, Change, Operation
from odradek.broker.config.loggers import apply
from odradek.protocol.errors import ErrorCode, KafkaError

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def levels_as_before() -> Iterator[None]:
    loggers.levels()  # makes them all
    ours = [
        each
        for name, each in logging.root.manager.loggerDict.items()
        if name.startswith("odradek") and isinstance(each, logging.Logger)
    ]
    kept = [each.level for each in ours]
    for each in ours:
        each.setLevel(logging.NOTSET)
    yield
    for each, level in zip(ours, kept, strict=True):
        each.setLevel(level)


def test_a_level_has_its_effect_on_pythons_logger() -> None:
    loggers.set_level("root", "ERROR")
    assert logging.getLogger("odradek").level == logging.ERROR
    assert loggers.levels()["kafka.server.KafkaApis"] == "ERROR"
    loggers.set_level("kafka.server.KafkaApis", "TRACE")
    assert logging.getLogger("odradek.broker.api").isEnabledFor(5)
    assert loggers.levels()["kafka.server.KafkaApis"] == "TRACE"
    loggers.set_level("kafka.server.KafkaApis", None)
    assert loggers.levels()["kafka.server.KafkaApis"] == "ERROR"


@pytest.mark.parametrize("level", loggers.LEVELS)
def test_every_level_is_shown_as_it_was_set(level: str) -> None:
    loggers.set_level("root", level)
    assert loggers.levels()["root"] == level


def test_unknown_names_and_levels() -> None:
    with pytest.raises(KafkaError) as refused:
        loggers.check("no.such")
    assert (refused.value.code, refused.value.message) == (
        ErrorCode.INVALID_CONFIG,
        "Logger no.such does not exist!",
    )
    with pytest.raises(KafkaError) as refused:
        loggers.check("root", "info")
    assert refused.value.message == (
        "Cannot set the log level of root to info as it is not a supported log level. Valid log levels are DEBUG, "
        "ERROR, FATAL, INFO, TRACE, WARN"
    )


def test_every_logger_that_kafkas_names_stand_for_is_used() -> None:
    sources = [path.read_text() for folder in ("broker", "src/odradek") for path in (ROOT / folder).rglob("*.py")]
    made = {name for source in sources for name in re.findall(r'getLogger\("([^"]+)"\)', source)}
    assert set(loggers.PYTHON_LOGGERS.values()) <= made


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


REAPER = "org.apache.kafka.server.quota.ClientQuotaManager$ThrottledChannelReaper"


def test_kafkas_other_loggers_keep_their_levels() -> None:
    try:
        apply(change((REAPER, "DEBUG", Operation.SET)), 1, validate_only=False)
        told = loggers.levels()
        assert told[REAPER] == "DEBUG"
        assert told["org.apache.kafka.server.quota.ClientQuotaManager"] == told["root"], "no parent of the other"
        apply(change((REAPER, None, Operation.DELETE)), 1, validate_only=False)
        assert loggers.levels()[REAPER] == told["root"]
    finally:
        loggers.set_level(REAPER, None)


def test_a_level_counts_for_the_loggers_below() -> None:
    before = loggers.levels()
    below = ("kafka.server.ControllerServer", "kafka.server.KafkaApis")
    other = "org.apache.kafka.raft.KafkaRaftClient"
    try:
        loggers.set_level("kafka", "TRACE")
        told = loggers.levels()
        assert [told[name] for name in ("kafka", *below)] == ["TRACE"] * 3
        assert PYTHON.isEnabledFor(5), "it has its effect"
        assert told[other] == before[other]
        for name in below:
            loggers.set_level(name, "INFO")
            assert loggers.levels()[name] == "INFO"
            loggers.set_level(name, None)
            assert loggers.levels()[name] == "TRACE"
        loggers.set_level("kafka.server.KafkaApis", "INFO")
        loggers.set_level("kafka", None)
        assert loggers.levels() == {**before, "kafka.server.KafkaApis": "INFO"}
    finally:
        for name in ("kafka", *below):
            loggers.set_level(name, None)


def test_loggers_are_told_in_the_order_of_kafkas_hash_map() -> None:
    first = ["org.apache.kafka.coordinator.group.GroupConfig", "org.apache.kafka.storage.internals.log.TimeIndex"]
    names = list(loggers.levels())
    assert [name for name in names if name in first] == first
    assert len(names) > 150
