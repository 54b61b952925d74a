"""A requested change of configuration, and its result for a resource's settings.

One `Change` is what AlterConfigs (replace everything) or IncrementalAlterConfigs (single operations, KIP-339)
asks of one resource. Codes and texts are those that Kafka 4.4.0 answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from odradek.broker.config.broker_config import is_list_key
from odradek.broker.config.definition import ConfigKey
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_text, java_order


class Operation(IntEnum):
    """An operation of IncrementalAlterConfigs on one key."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Assignment(NamedTuple):
    """One key of a change. The operation is a plain number: a client may send any."""

    name: str
    value: str | None
    operation: int = Operation.SET


class Change(NamedTuple):
    """A change of one resource. `replaces`: keys that are not named return to their defaults (AlterConfigs)."""

    type: int
    name: str
    assignments: Sequence[Assignment]
    replaces: bool = False


def check_change(change: Change, *, fails_at_nulls: bool = False) -> None:
    """INVALID_REQUEST for a key named twice, and for a null where a value is needed.

    `fails_at_nulls`: see `Release.fails_at_null_configs`.
    """
    names = [assignment.name for assignment in change.assignments]
    if len(set(names)) != len(names):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [a.name for a in change.assignments if a.value is None and a.operation != Operation.DELETE]
    if not nulls:
        return
    if fails_at_nulls:
        if change.replaces:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        nulls = [f"{operation_name(a.operation)}:{a.name}" for a in change.assignments if a.name in nulls]
    raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")


def operation_name(operation: int) -> str:
    """SET, DELETE, APPEND or SUBTRACT."""
    try:
        return Operation(operation).name
    except ValueError:
        # Kafka's controller fails on such a number and answers with this code and no text.
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR) from None


def result_of(
    change: Change, current: Mapping[str, str], keys: Mapping[str, ConfigKey], default: Callable[[str], str]
) -> dict[str, str]:
    """The settings of a resource after the change, not yet checked. `default` gives a list that is not set yet."""
    result = {} if change.replaces else dict(current)
    assignments = {assignment.name: assignment for assignment in change.assignments}
    for name in java_order(assignments, hash_of_text):  # Kafka's controller has them in a map
        _, value, operation = assignments[name]
        kind = operation_name(operation)
        if operation == Operation.DELETE:
            result.pop(name, None)
            continue
        text = value or ""
        if operation == Operation.SET:
            result[name] = text
            continue
        if not is_list_key(keys.get(name)):
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Can't {kind} to key {name} because its type is not LIST.")
        items = [item for item in (result[name] if name in result else default(name)).split(",") if item]
        given = [item.strip() for item in text.split(",")]
        if operation == Operation.APPEND:
            items += [item for item in given if item not in items]
        else:
            items = [item for item in items if item not in given]
        result[name] = ",".join(items)
    return result


def checked_node(name: str, node_id: int, wrong: str) -> int | None:
    """The node that a resource name means, None for the empty one; INVALID_REQUEST unless it is the asked node."""
    if name == "":
        return None
    try:
        asked = int(name)
    except ValueError:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}") from None
    if asked != node_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST, wrong.format(node_id, asked))
    return asked
