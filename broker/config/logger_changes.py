"""Changes of log levels by clients (the BROKER_LOGGER resource): they are the node's own and end with it."""

from __future__ import annotations

from odradek.broker.config import loggers
from odradek.broker.config.changes import Change, Operation, check_change, checked_node, operation_name
from odradek.protocol.errors import ErrorCode, KafkaError


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
