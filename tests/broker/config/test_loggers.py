"""Log levels by Kafka's logger names."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.broker.config import loggers
from odradek.protocol.errors import ErrorCode, KafkaError

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def levels_as_before() -> Iterator[None]:
    names = ("odradek", "odradek.broker.api")
    kept = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.NOTSET)
    yield
    for name, level in kept.items():
        logging.getLogger(name).setLevel(level)


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
