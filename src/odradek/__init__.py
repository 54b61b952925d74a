"""odradek: Apache Kafka in your test process.

`with odradek.KafkaBroker(topics={"orders": 6}) as broker:` runs a broker in its own thread;
`async with odradek.open_broker(...) as broker:` runs it in the caller's trio run. The names are imported when they
are first used, so importing odradek costs nothing. `compiled` says whether its hot modules are compiled ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odradek._compiled import compiled
from odradek._version import __version__

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock, ClockChange
    from odradek.broker.config.broker_config import ConfigError
    from odradek.broker.facade.broker import Broker
    from odradek.broker.facade.chaos.chaos import Chaos
    from odradek.broker.facade.chaos.schedule import ChaosFault
    from odradek.broker.facade.generated.blocking.broker import BlockingBroker
    from odradek.broker.facade.generated.blocking.groups import Group
    from odradek.broker.facade.generated.blocking.transactions import TransactionHold
    from odradek.broker.facade.generated.blocking.transcript import Transcript
    from odradek.broker.facade.generated.blocking.undo import Undo
    from odradek.broker.facade.groups.info import (
        GroupInfo,
        LagUnknownError,
        MemberInfo,
        OffsetInfo,
        SharePartitionInfo,
        StreamsGroupInfo,
        StreamsMemberInfo,
        SubtopologyInfo,
    )
    from odradek.broker.facade.nodes import NodeInfo
    from odradek.broker.facade.open_broker import open_broker
    from odradek.broker.facade.overview import GroupPage, GroupSummary, Overview, TopicPage, TopicSummary
    from odradek.broker.facade.records.decoded import DecodedRecord
    from odradek.broker.facade.records.record import ProducerRecord, RecordMetadata, StoredRecord
    from odradek.broker.facade.remote.broker import RemoteBroker, RemoteFork, connect
    from odradek.broker.facade.report.strictness import StrictnessError, StrictnessFinding, StrictnessWarning
    from odradek.broker.facade.security_settings import Acl, Security
    from odradek.broker.facade.state.snapshot import Snapshot
    from odradek.broker.facade.thread_bridge import BrokerClosedError
    from odradek.broker.facade.threaded import BrokerFactory, KafkaBroker
    from odradek.broker.facade.topics import PartitionInfo, TopicInfo, TopicSpec
    from odradek.broker.facade.transactions import TransactionInfo
    from odradek.broker.facade.verb_base import Pending
    from odradek.broker.facade.verbs.broker import TrioBroker
    from odradek.broker.facade.verbs.groups import TrioGroup
    from odradek.broker.facade.verbs.transactions import TrioTransactionHold
    from odradek.broker.facade.verbs.transcript import TrioTranscript
    from odradek.broker.facade.verbs.undo import TrioUndo
    from odradek.broker.faults.fault import Fault, FaultContext
    from odradek.broker.faults.wire_fault import WireFault
    from odradek.broker.requests.bugs import Bug
    from odradek.broker.requests.context import ConnectionInfo
    from odradek.broker.schemas.record_schemas import Decoded, SchemaInfo
    from odradek.broker.security.denials import Denial
    from odradek.broker.telemetry.otlp import ClientMetric
    from odradek.broker.telemetry.pushes import TelemetryPush
    from odradek.broker.transcript.recorded_request import RecordedRequest, RegistryRequest
    from odradek.broker.transcript.request_list import Requests
    from odradek.broker.transcript.topic_positions import TopicPosition
    from odradek.protocol.errors import ErrorCode, KafkaError
    from odradek.protocol.message import ApiMessage

__all__ = [
    "Acl",
    "ApiMessage",
    "BlockingBroker",
    "Broker",
    "BrokerClock",
    "BrokerClosedError",
    "BrokerFactory",
    "Bug",
    "Chaos",
    "ChaosFault",
    "ClientMetric",
    "ClockChange",
    "ConfigError",
    "ConnectionInfo",
    "Decoded",
    "DecodedRecord",
    "Denial",
    "ErrorCode",
    "Fault",
    "FaultContext",
    "Group",
    "GroupInfo",
    "GroupPage",
    "GroupSummary",
    "KafkaBroker",
    "KafkaError",
    "LagUnknownError",
    "MemberInfo",
    "NodeInfo",
    "OffsetInfo",
    "Overview",
    "PartitionInfo",
    "Pending",
    "ProducerRecord",
    "RecordMetadata",
    "RecordedRequest",
    "RegistryRequest",
    "RemoteBroker",
    "RemoteFork",
    "Requests",
    "SchemaInfo",
    "Security",
    "SharePartitionInfo",
    "Snapshot",
    "StoredRecord",
    "StreamsGroupInfo",
    "StreamsMemberInfo",
    "StrictnessError",
    "StrictnessFinding",
    "StrictnessWarning",
    "SubtopologyInfo",
    "TelemetryPush",
    "TopicInfo",
    "TopicPage",
    "TopicPosition",
    "TopicSpec",
    "TopicSummary",
    "TransactionHold",
    "TransactionInfo",
    "Transcript",
    "TrioBroker",
    "TrioGroup",
    "TrioTransactionHold",
    "TrioTranscript",
    "TrioUndo",
    "Undo",
    "WireFault",
    "__version__",
    "compiled",
    "connect",
    "open_broker",
]

_HOMES = {
    "Acl": "odradek.broker.facade.security_settings",
    "ApiMessage": "odradek.protocol.message",
    "BlockingBroker": "odradek.broker.facade.generated.blocking.broker",
    "Broker": "odradek.broker.facade.broker",
    "BrokerClock": "odradek.broker.clock",
    "BrokerClosedError": "odradek.broker.facade.thread_bridge",
    "BrokerFactory": "odradek.broker.facade.threaded",
    "Bug": "odradek.broker.requests.bugs",
    "Chaos": "odradek.broker.facade.chaos.chaos",
    "ChaosFault": "odradek.broker.facade.chaos.schedule",
    "ClientMetric": "odradek.broker.telemetry.otlp",
    "ClockChange": "odradek.broker.clock",
    "ConfigError": "odradek.broker.config.broker_config",
    "ConnectionInfo": "odradek.broker.requests.context",
    "Decoded": "odradek.broker.schemas.record_schemas",
    "DecodedRecord": "odradek.broker.facade.records.decoded",
    "Denial": "odradek.broker.security.denials",
    "ErrorCode": "odradek.protocol.errors",
    "Fault": "odradek.broker.faults.fault",
    "FaultContext": "odradek.broker.faults.fault",
    "Group": "odradek.broker.facade.generated.blocking.groups",
    "GroupInfo": "odradek.broker.facade.groups.info",
    "GroupPage": "odradek.broker.facade.overview",
    "GroupSummary": "odradek.broker.facade.overview",
    "KafkaBroker": "odradek.broker.facade.threaded",
    "KafkaError": "odradek.protocol.errors",
    "LagUnknownError": "odradek.broker.facade.groups.info",
    "MemberInfo": "odradek.broker.facade.groups.info",
    "NodeInfo": "odradek.broker.facade.nodes",
    "OffsetInfo": "odradek.broker.facade.groups.info",
    "Overview": "odradek.broker.facade.overview",
    "PartitionInfo": "odradek.broker.facade.topics",
    "Pending": "odradek.broker.facade.verb_base",
    "ProducerRecord": "odradek.broker.facade.records.record",
    "RecordMetadata": "odradek.broker.facade.records.record",
    "RecordedRequest": "odradek.broker.transcript.recorded_request",
    "RegistryRequest": "odradek.broker.transcript.recorded_request",
    "RemoteBroker": "odradek.broker.facade.remote.broker",
    "RemoteFork": "odradek.broker.facade.remote.broker",
    "Requests": "odradek.broker.transcript.request_list",
    "SchemaInfo": "odradek.broker.schemas.record_schemas",
    "Security": "odradek.broker.facade.security_settings",
    "SharePartitionInfo": "odradek.broker.facade.groups.info",
    "Snapshot": "odradek.broker.facade.state.snapshot",
    "StoredRecord": "odradek.broker.facade.records.record",
    "StreamsGroupInfo": "odradek.broker.facade.groups.info",
    "StreamsMemberInfo": "odradek.broker.facade.groups.info",
    "StrictnessError": "odradek.broker.facade.report.strictness",
    "StrictnessFinding": "odradek.broker.facade.report.strictness",
    "StrictnessWarning": "odradek.broker.facade.report.strictness",
    "SubtopologyInfo": "odradek.broker.facade.groups.info",
    "TelemetryPush": "odradek.broker.telemetry.pushes",
    "TopicInfo": "odradek.broker.facade.topics",
    "TopicPage": "odradek.broker.facade.overview",
    "TopicPosition": "odradek.broker.transcript.topic_positions",
    "TopicSpec": "odradek.broker.facade.topics",
    "TopicSummary": "odradek.broker.facade.overview",
    "TransactionHold": "odradek.broker.facade.generated.blocking.transactions",
    "TransactionInfo": "odradek.broker.facade.transactions",
    "Transcript": "odradek.broker.facade.generated.blocking.transcript",
    "TrioBroker": "odradek.broker.facade.verbs.broker",
    "TrioGroup": "odradek.broker.facade.verbs.groups",
    "TrioTransactionHold": "odradek.broker.facade.verbs.transactions",
    "TrioTranscript": "odradek.broker.facade.verbs.transcript",
    "TrioUndo": "odradek.broker.facade.verbs.undo",
    "Undo": "odradek.broker.facade.generated.blocking.undo",
    "WireFault": "odradek.broker.faults.wire_fault",
    "connect": "odradek.broker.facade.remote.broker",
    "open_broker": "odradek.broker.facade.open_broker",
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
