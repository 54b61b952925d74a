"""odradek: Apache Kafka in your test process.

`with odradek.KafkaBroker(topics={"orders": 6}) as broker:` runs a broker in its own thread;
`async with odradek.open_broker(...) as broker:` runs it in the caller's trio run. The names are imported when they
are first used, so importing odradek costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odradek._version import __version__

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import ConfigError
    from odradek.broker.facade.broker import Broker
    from odradek.broker.facade.call import BrokerClosedError
    from odradek.broker.facade.group_info import GroupInfo, MemberInfo, OffsetInfo
    from odradek.broker.facade.group_lag import LagUnknownError
    from odradek.broker.facade.groups import Group
    from odradek.broker.facade.producer_record import ProducerRecord, RecordMetadata
    from odradek.broker.facade.share_partitions import SharePartitionInfo
    from odradek.broker.facade.stored_record import StoredRecord
    from odradek.broker.facade.streams_group_info import StreamsGroupInfo, StreamsMemberInfo, SubtopologyInfo
    from odradek.broker.facade.threaded import BrokerFactory, KafkaBroker, TrioBroker, open_broker
    from odradek.broker.facade.topic_spec import TopicSpec
    from odradek.broker.facade.topics import PartitionInfo, TopicInfo
    from odradek.broker.facade.transactions import TransactionHold, TransactionInfo
    from odradek.broker.requests.bugs import Bug
    from odradek.broker.requests.faults import Fault, FaultContext
    from odradek.broker.telemetry.otlp import ClientMetric
    from odradek.broker.telemetry.pushes import TelemetryPush
    from odradek.protocol.errors import ErrorCode, KafkaError

__all__ = [
    "Broker",
    "BrokerClock",
    "BrokerClosedError",
    "BrokerFactory",
    "Bug",
    "ClientMetric",
    "ConfigError",
    "ErrorCode",
    "Fault",
    "FaultContext",
    "Group",
    "GroupInfo",
    "KafkaBroker",
    "KafkaError",
    "LagUnknownError",
    "MemberInfo",
    "OffsetInfo",
    "PartitionInfo",
    "ProducerRecord",
    "RecordMetadata",
    "SharePartitionInfo",
    "StoredRecord",
    "StreamsGroupInfo",
    "StreamsMemberInfo",
    "SubtopologyInfo",
    "TelemetryPush",
    "TopicInfo",
    "TopicSpec",
    "TransactionHold",
    "TransactionInfo",
    "TrioBroker",
    "__version__",
    "open_broker",
]

_HOMES = {
    "Broker": "odradek.broker.facade.broker",
    "BrokerClock": "odradek.broker.clock",
    "BrokerClosedError": "odradek.broker.facade.call",
    "BrokerFactory": "odradek.broker.facade.threaded",
    "Bug": "odradek.broker.requests.bugs",
    "ClientMetric": "odradek.broker.telemetry.otlp",
    "ConfigError": "odradek.broker.config.broker_config",
    "ErrorCode": "odradek.protocol.errors",
    "Fault": "odradek.broker.requests.faults",
    "FaultContext": "odradek.broker.requests.faults",
    "Group": "odradek.broker.facade.groups",
    "GroupInfo": "odradek.broker.facade.group_info",
    "KafkaBroker": "odradek.broker.facade.threaded",
    "KafkaError": "odradek.protocol.errors",
    "LagUnknownError": "odradek.broker.facade.group_lag",
    "MemberInfo": "odradek.broker.facade.group_info",
    "OffsetInfo": "odradek.broker.facade.group_info",
    "PartitionInfo": "odradek.broker.facade.topics",
    "SharePartitionInfo": "odradek.broker.facade.share_partitions",
    "ProducerRecord": "odradek.broker.facade.producer_record",
    "RecordMetadata": "odradek.broker.facade.producer_record",
    "StoredRecord": "odradek.broker.facade.stored_record",
    "StreamsGroupInfo": "odradek.broker.facade.streams_group_info",
    "StreamsMemberInfo": "odradek.broker.facade.streams_group_info",
    "SubtopologyInfo": "odradek.broker.facade.streams_group_info",
    "TelemetryPush": "odradek.broker.telemetry.pushes",
    "TopicInfo": "odradek.broker.facade.topics",
    "TopicSpec": "odradek.broker.facade.topic_spec",
    "TransactionHold": "odradek.broker.facade.transactions",
    "TransactionInfo": "odradek.broker.facade.transactions",
    "TrioBroker": "odradek.broker.facade.threaded",
    "open_broker": "odradek.broker.facade.threaded",
}

if not TYPE_CHECKING:  # so that type checkers refuse names that do not exist

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import importlib

        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
