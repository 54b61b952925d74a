"""Log levels by Kafka's logger names."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from odradek.broker.config import loggers
from odradek.broker.config.changes import Assignment, Change, Operation
from odradek.broker.config.loggers import LogLevels
from odradek.protocol.errors import ErrorCode, KafkaError

ROOT = Path(__file__).parents[3]
LOGGER = 8
NAME = "kafka.server.KafkaApis"
PYTHON = logging.getLogger("odradek.broker.api")
ODRADEK = logging.getLogger("odradek")


@pytest.fixture(autouse=True)
def levels_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(loggers, "_IN_USE", set())
    monkeypatch.setattr(loggers, "_CHANGED", {})
    kept = {name: logging.getLogger(name).level for name in loggers.PYTHON_LOGGERS.values()}
    for name in kept:
        logging.getLogger(name).setLevel(logging.NOTSET)
    yield
    for name, level in kept.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def new_levels() -> Iterator[Callable[[], LogLevels]]:
    made: list[LogLevels] = []

    def make() -> LogLevels:
        made.append(LogLevels())
        return made[-1]

    yield make
    for each in made:
        each.reset([1, 2])


@pytest.fixture
def levels(new_levels: Callable[[], LogLevels]) -> LogLevels:
    return new_levels()


def change(*assignments: tuple[str, str | None, int], node: str = "1") -> Change:
    return Change(LOGGER, node, [Assignment(*each) for each in assignments])


def set_level(levels: LogLevels, name: str, level: str | None, node_id: int = 1) -> None:
    operation = Operation.DELETE if level is None else Operation.SET
    levels.apply(change((name, level, operation), node=str(node_id)), node_id, validate_only=False)


def test_a_level_has_its_effect_on_pythons_logger(levels: LogLevels) -> None:
    set_level(levels, "root", "ERROR")
    assert ODRADEK.level == logging.ERROR
    assert levels.levels(1)[NAME] == "ERROR"
    set_level(levels, NAME, "TRACE")
    assert PYTHON.isEnabledFor(5)
    assert levels.levels(1)[NAME] == "TRACE"
    set_level(levels, NAME, None)
    assert PYTHON.level == logging.NOTSET
    assert levels.levels(1)[NAME] == "ERROR"


@pytest.mark.parametrize("level", loggers.LEVELS)
def test_every_level_is_shown_as_it_was_set(levels: LogLevels, level: str) -> None:
    set_level(levels, "root", level)
    assert levels.levels(1)["root"] == level


def test_levels_that_the_process_has_set_are_shown(levels: LogLevels) -> None:
    PYTHON.setLevel(logging.DEBUG)
    set_level(levels, "root", "ERROR")
    shown = levels.levels(1)
    assert (shown[NAME], shown["kafka.network.SocketServer"], shown["kafka"]) == ("DEBUG", "ERROR", "ERROR")


# -- nodes and brokers of one process


def test_a_level_belongs_to_its_node_and_broker(new_levels: Callable[[], LogLevels]) -> None:
    first, second = new_levels(), new_levels()
    before = second.levels(1)
    set_level(first, NAME, "TRACE")
    set_level(first, "root", "FATAL")
    assert first.levels(1)[NAME] == "TRACE"
    assert second.levels(1) == first.levels(2) == before


def test_the_most_verbose_level_works(new_levels: Callable[[], LogLevels]) -> None:
    first, second = new_levels(), new_levels()
    set_level(first, NAME, "ERROR")
    set_level(first, NAME, "INFO", node_id=2)
    set_level(second, NAME, "DEBUG")
    assert PYTHON.level == logging.DEBUG
    second.reset([1])
    assert PYTHON.level == logging.INFO
    first.reset([2])
    assert PYTHON.level == logging.ERROR


def test_a_stop_takes_the_levels_back(levels: LogLevels) -> None:
    ODRADEK.setLevel(logging.INFO)
    before = levels.levels(1)
    set_level(levels, "root", "DEBUG")
    set_level(levels, NAME, "ERROR")
    levels.reset([1])
    assert (ODRADEK.level, PYTHON.level) == (logging.INFO, logging.NOTSET)
    assert levels.levels(1) == before


def test_a_stop_leaves_a_level_that_the_process_has_set_meanwhile(levels: LogLevels) -> None:
    set_level(levels, NAME, "DEBUG")
    PYTHON.setLevel(logging.CRITICAL)
    levels.reset([1])
    assert PYTHON.level == logging.CRITICAL


# -- refusals


def test_logger_changes_with_unknown_names_or_levels_are_refused(levels: LogLevels) -> None:
    with pytest.raises(KafkaError) as refused:
        set_level(levels, "no.such", "INFO")
    assert (refused.value.code, refused.value.message) == (
        ErrorCode.INVALID_CONFIG,
        "Logger no.such does not exist!",
    )
    with pytest.raises(KafkaError) as refused:
        set_level(levels, "root", "info")
    assert refused.value.message == (
        "Cannot set the log level of root to info as it is not a supported log level. Valid log levels are DEBUG, "
        "ERROR, FATAL, INFO, TRACE, WARN"
    )


def test_logger_changes_that_are_only_validated_set_nothing(levels: LogLevels) -> None:
    levels.apply(change((NAME, "DEBUG", Operation.SET)), 1, validate_only=True)
    assert PYTHON.level == logging.NOTSET


def test_every_logger_that_kafkas_names_stand_for_is_used() -> None:
    sources = [path.read_text() for folder in ("broker", "src/odradek") for path in (ROOT / folder).rglob("*.py")]
    made = {name for source in sources for name in re.findall(r'getLogger\("([^"]+)"\)', source)}
    assert set(loggers.PYTHON_LOGGERS.values()) <= made


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
def test_logger_changes_with_one_refusal_change_nothing(
    levels: LogLevels, refused: tuple[str, str | None, int], node: str, code: ErrorCode
) -> None:
    first = ("kafka.network.SocketServer", "DEBUG", Operation.SET)
    before = logging.getLogger("odradek.broker.net").level
    with pytest.raises(KafkaError) as caught:
        levels.apply(change(first, refused, node=node), 1, validate_only=False)
    assert caught.value.code is code
    assert logging.getLogger("odradek.broker.net").level == before


REAPER = "org.apache.kafka.server.quota.ClientQuotaManager$ThrottledChannelReaper"


def test_kafkas_other_loggers_keep_their_levels(levels: LogLevels) -> None:
    set_level(levels, REAPER, "DEBUG")
    told = levels.levels(1)
    assert told[REAPER] == "DEBUG"
    assert told["org.apache.kafka.server.quota.ClientQuotaManager"] == told["root"], "no parent of the other"
    set_level(levels, REAPER, None)
    assert levels.levels(1)[REAPER] == told["root"]


def test_a_level_counts_for_the_loggers_below(levels: LogLevels) -> None:
    before = levels.levels(1)
    below = ("kafka.server.ControllerServer", NAME)
    other = "org.apache.kafka.raft.KafkaRaftClient"
    set_level(levels, "kafka", "TRACE")
    told = levels.levels(1)
    assert [told[name] for name in ("kafka", *below)] == ["TRACE"] * 3
    assert PYTHON.isEnabledFor(5), "it has its effect"
    assert told[other] == before[other]
    for name in below:
        set_level(levels, name, "INFO")
        assert levels.levels(1)[name] == "INFO"
        set_level(levels, name, None)
        assert levels.levels(1)[name] == "TRACE"
    set_level(levels, NAME, "INFO")
    set_level(levels, "kafka", None)
    assert levels.levels(1) == {**before, NAME: "INFO"}


def test_loggers_are_told_in_the_order_of_kafkas_hash_map(levels: LogLevels) -> None:
    first = ["org.apache.kafka.coordinator.group.GroupConfig", "org.apache.kafka.storage.internals.log.TimeIndex"]
    names = list(levels.levels(1))
    assert [name for name in names if name in first] == first
    assert len(names) > 150
