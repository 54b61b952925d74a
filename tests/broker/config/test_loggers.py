"""Log levels by Kafka's logger names."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from odradek.broker.config import loggers
from odradek.protocol.errors import ErrorCode, KafkaError


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
