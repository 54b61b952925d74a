"""The loggers that clients can see and set through the BROKER_LOGGER resource.

Kafka's names for what odradek has too stand for odradek's own Python loggers, so that a changed level has its effect.
All others that a Kafka has when it has started can be set and read, and nobody logs to them.
Each room of the broker has one logger, named as the package.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from odradek.broker.config import loggers
from odradek.broker.config.changes import Change, Operation, check_change, checked_node, operation_name
from odradek.broker.config.definition import response_order
from odradek.protocol.errors import ErrorCode, KafkaError

ROOT = "root"
LEVELS = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")

_PYTHON_LEVELS = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
_KAFKAS = "odradek.kafka."
"""Where loggers with Kafka's names are, which keep the levels that were set. Nobody logs to them."""
PYTHON_LOGGERS = {
    ROOT: "odradek",
    "kafka.server.KafkaApis": "odradek.broker.api",
    "kafka.request.logger": "odradek.broker.requests",
    "kafka.network.SocketServer": "odradek.broker.net",
    "kafka.authorizer.logger": "odradek.broker.security.authorizer",
    "kafka.server.ReplicaManager": "odradek.broker.partitions",
    "org.apache.kafka.controller.QuorumController": "odradek.broker.controller",
    "org.apache.kafka.server.quota.ClientQuotaManager": "odradek.broker.security.quotas",
    "org.apache.kafka.storage.internals.log.LogCleaner": "odradek.broker.partitions.compaction",
    "org.apache.kafka.storage.internals.log.UnifiedLog": "odradek.broker.partitions.retention",
    "org.apache.kafka.coordinator.group.GroupCoordinatorService": "odradek.broker.coordinator.group",
    "kafka.coordinator.transaction.TransactionCoordinator": "odradek.broker.coordinator.transaction",
}


@cache
def names() -> Mapping[str, str]:
    """Kafka's name of each logger, in the order of its answers, to the name of the Python logger."""
    text = (Path(__file__).parent / "definitions" / "loggers.txt").read_text(encoding="utf-8")
    others = (line for line in text.splitlines() if not line.startswith("#"))
    known = {**{name: f"{_KAFKAS}{name}" for name in others}, **PYTHON_LOGGERS}
    return {name: known[name] for name in response_order(list(known))}


def levels() -> dict[str, str]:
    """Every logger with the level that it works at."""
    return {name: _name_of(logging.getLogger(python).getEffectiveLevel()) for name, python in names().items()}


def check(name: str, level: str | None = None) -> None:
    """INVALID_CONFIG in Kafka's words for an unknown logger or level (None: the level does not matter)."""
    if name not in names():
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
    if level is not None and level not in LEVELS:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"Cannot set the log level of {name} to {level} as it is not a supported log level. Valid log levels are "
            + ", ".join(LEVELS),
        )


def set_level(name: str, level: str | None) -> None:
    """Set a checked level; None goes back to the one of the logger above."""
    number = logging.NOTSET if level is None else _PYTHON_LEVELS[level]
    if name == ROOT:
        logging.getLogger(PYTHON_LOGGERS[ROOT]).setLevel(number)
        return
    logging.getLogger(f"{_KAFKAS}{name}").setLevel(number)
    for kafkas, python in PYTHON_LOGGERS.items():
        if kafkas == name or kafkas.startswith(f"{name}."):
            logging.getLogger(python).setLevel(_given(kafkas))


def _given(name: str) -> int:
    """The level that was set for a logger, or else for the next one above it; the root does not count."""
    while name:
        level = logging.getLogger(f"{_KAFKAS}{name}").level
        if level != logging.NOTSET:
            return level
        name = name.rpartition(".")[0]
    return logging.NOTSET


def _name_of(number: int) -> str:
    """The highest of Kafka's levels that is not above `number`."""
    found = [(value, name) for name, value in _PYTHON_LEVELS.items() if value <= number]
    return max(found)[1] if found else "TRACE"


def apply(change: Change, node_id: int, *, validate_only: bool) -> None:
    """Set the levels, all of them or none; KafkaError if Kafka would refuse them."""
    check_change(change)
    if checked_node(change.name, node_id, "Unexpected node id. Expected {}, but received {}") is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Node id must be an integer, but it is: ")
    for name, value, operation in change.assignments:
        if operation == Operation.SET:
            loggers.check(name, value or "")
        elif operation == Operation.DELETE:
            if name == loggers.ROOT:
                text = "Removing the log level of the root logger is not allowed"
                raise KafkaError(ErrorCode.INVALID_REQUEST, text)
            loggers.check(name)
        else:
            text = f"{operation_name(operation)} operation is not allowed for the BROKER_LOGGER resource"
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    if not validate_only:
        for name, value, operation in change.assignments:
            loggers.set_level(name, value if operation == Operation.SET else None)
