"""The loggers that clients can see and set through the BROKER_LOGGER resource.

Kafka's names for what odradek has too stand for odradek's own Python loggers, so that a changed level has its effect.
All others that a Kafka has when it has started can be set and read, and nobody logs to them.
Each room of the broker has one logger, named as the package.

Levels belong to a node, and are gone when it stops. Python's loggers belong to the process: where several nodes or
brokers set a level of the same one, it works at the most verbose.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

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

_LOCK = threading.Lock()
"""Of the two that follow: each broker of a process may have a thread of its own."""
_IN_USE: set[LogLevels] = set()
_CHANGED: dict[str, tuple[int, int]] = {}
"""Name of a Python logger to the level that it had, and the one that it has got here."""


@cache
def names() -> Mapping[str, str]:
    """Kafka's name of each logger, in the order of its answers, to the name of the Python logger."""
    text = (Path(__file__).parent / "definitions" / "loggers.txt").read_text(encoding="utf-8")
    others = (line for line in text.splitlines() if not line.startswith("#"))
    known = {**dict.fromkeys(others, PYTHON_LOGGERS[ROOT]), **PYTHON_LOGGERS}
    return {name: known[name] for name in response_order(list(known))}


class LogLevels:
    """The levels that clients have set on the nodes of a broker."""

    def __init__(self) -> None:
        self._set: dict[int, dict[str, str]] = {}

    def levels(self, node_id: int) -> dict[str, str]:
        """Every logger with its level on a node."""
        mine = self._set.get(node_id, {})
        return {name: _closest(mine, name) or _python_level(python, mine.get(ROOT)) for name, python in names().items()}

    def apply(self, change: Change, node_id: int, *, validate_only: bool) -> None:
        """Set the levels on a node, all of them or none; KafkaError if Kafka would refuse them."""
        _check_change(change, node_id)
        if validate_only:
            return
        with _LOCK:
            mine = self._set.setdefault(node_id, {})
            for name, value, operation in change.assignments:
                if operation == Operation.SET and value is not None:
                    mine[name] = value
                else:
                    mine.pop(name, None)
            _IN_USE.add(self)
            _set_python_levels()

    def reset(self, node_ids: Iterable[int]) -> None:
        """Forget the levels of these nodes."""
        with _LOCK:
            for node_id in node_ids:
                self._set.pop(node_id, None)
            if not self._set:
                _IN_USE.discard(self)
            _set_python_levels()

    def asked(self, name: str) -> list[int]:
        """Python's numbers of the levels that the nodes have for a logger."""
        return [_PYTHON_LEVELS[level] for mine in self._set.values() if (level := _closest(mine, name)) is not None]


def _check_change(change: Change, node_id: int) -> None:
    check_change(change)
    if checked_node(change.name, node_id, "Unexpected node id. Expected {}, but received {}") is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Node id must be an integer, but it is: ")
    for name, value, operation in change.assignments:
        if operation == Operation.SET:
            _check(name, value or "")
        elif operation == Operation.DELETE:
            if name == ROOT:
                text = "Removing the log level of the root logger is not allowed"
                raise KafkaError(ErrorCode.INVALID_REQUEST, text)
            _check(name)
        else:
            text = f"{operation_name(operation)} operation is not allowed for the BROKER_LOGGER resource"
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)


def _check(name: str, level: str | None = None) -> None:
    """INVALID_CONFIG in Kafka's words for an unknown logger or level (None: the level does not matter)."""
    if name not in names():
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
    if level is not None and level not in LEVELS:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"Cannot set the log level of {name} to {level} as it is not a supported log level. Valid log levels are "
            + ", ".join(LEVELS),
        )


def _closest(levels: Mapping[str, str], name: str) -> str | None:
    """The level of a logger, or else of the next one above it; the root does not count."""
    while name:
        if name in levels:
            return levels[name]
        name = name.rpartition(".")[0]
    return None


def _python_level(python: str, root: str | None) -> str:
    """The level of a Python logger that no client has set. `root`: the level that a client has set for the root."""
    while python:
        if python == PYTHON_LOGGERS[ROOT] and root is not None:
            return root
        level = _level_before(python)
        if level != logging.NOTSET:
            return _name_of(level)
        python = python.rpartition(".")[0]
    return _name_of(logging.getLogger().level)


def _level_before(python: str) -> int:
    """The level of a Python logger without what brokers have set. A level that the process sets later counts."""
    now = logging.getLogger(python).level
    before, ours = _CHANGED.get(python, (now, now))
    return before if now == ours else now


def _set_python_levels() -> None:
    """Give each Python logger the most verbose level that a node has for it, or else the one that it had."""
    for name, python in PYTHON_LOGGERS.items():
        before = _level_before(python)
        asked = [number for each in _IN_USE for number in each.asked(name)]
        _CHANGED.pop(python, None)
        if asked:
            _CHANGED[python] = before, min(asked)
        logging.getLogger(python).setLevel(min(asked, default=before))


def _name_of(number: int) -> str:
    """The highest of Kafka's levels that is not above `number`."""
    found = [(value, name) for name, value in _PYTHON_LEVELS.items() if value <= number]
    return max(found)[1] if found else "TRACE"
