"""odradek: Apache Kafka in your test process.

`with odradek.KafkaBroker(topics={"orders": 6}) as broker:` runs a broker in its own thread;
`async with odradek.open_broker(...) as broker:` runs it in the caller's trio run. The names are imported when they
are first used, so importing odradek costs nothing. `compiled` says whether its hot modules are compiled ones.
`odradek.types` has the types that a test only needs for annotations.
"""

# ruff: noqa: I001  one import for each home

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from odradek._compiled import compiled as compiled
from odradek._version import __version__ as __version__

if TYPE_CHECKING:  # so that type checkers refuse names that do not exist; the same names as below
    from odradek.broker.clock import BrokerClock as BrokerClock
    from odradek.broker.config.broker_config import ConfigError as ConfigError
    from odradek.broker.facade.chaos.chaos import Chaos as Chaos
    from odradek.broker.facade.chaos.schedule import ChaosFault as ChaosFault
    from odradek.broker.facade.generated.blocking.coordinators import (
        Group as Group,
        TransactionHold as TransactionHold,
    )
    from odradek.broker.facade.generated.blocking.topics import Topic as Topic
    from odradek.broker.facade.generated.blocking.transcript import Transcript as Transcript
    from odradek.broker.facade.generated.blocking.undo import Undo as Undo
    from odradek.broker.facade.groups.info import (
        GroupInfo as GroupInfo,
        LagUnknownError as LagUnknownError,
        MemberInfo as MemberInfo,
    )
    from odradek.broker.nodes.node_life import NodeInfo as NodeInfo
    from odradek.broker.facade.open_broker import open_broker as open_broker
    from odradek.broker.facade.records.record import (
        DecodedRecord as DecodedRecord,
        ProducerRecord as ProducerRecord,
        RecordMetadata as RecordMetadata,
        StoredRecord as StoredRecord,
    )
    from odradek.broker.facade.remote.broker import connect as connect
    from odradek.broker.facade.report.strictness import (
        StrictnessError as StrictnessError,
        StrictnessFinding as StrictnessFinding,
        StrictnessWarning as StrictnessWarning,
    )
    from odradek.broker.facade.security_settings import Acl as Acl, Security as Security
    from odradek.broker.facade.state.snapshot import Snapshot as Snapshot
    from odradek.broker.facade.thread_bridge import BrokerClosedError as BrokerClosedError
    from odradek.broker.facade.threaded import BrokerFactory as BrokerFactory, KafkaBroker as KafkaBroker
    from odradek.broker.facade.topics import (
        PartitionInfo as PartitionInfo,
        TopicInfo as TopicInfo,
        TopicSpec as TopicSpec,
    )
    from odradek.broker.facade.transactions import TransactionInfo as TransactionInfo
    from odradek.broker.faults.fault import Fault as Fault
    from odradek.broker.faults.wire_fault import WireFault as WireFault
    from odradek.broker.requests.bugs import Bug as Bug
    from odradek.broker.schemas.record_schemas import SchemaInfo as SchemaInfo
    from odradek.broker.transcript.recorded_request import RecordedRequest as RecordedRequest
    from odradek.broker.transcript.request_list import Requests as Requests
    from odradek.protocol.errors import ErrorCode as ErrorCode, KafkaError as KafkaError
    from odradek.protocol.message import ApiMessage as ApiMessage

    __all__: list[str]
else:
    _NAMES = {
        "odradek.broker.clock": "BrokerClock",
        "odradek.broker.config.broker_config": "ConfigError",
        "odradek.broker.facade.chaos.chaos": "Chaos",
        "odradek.broker.facade.chaos.schedule": "ChaosFault",
        "odradek.broker.facade.generated.blocking.coordinators": "Group TransactionHold",
        "odradek.broker.facade.generated.blocking.topics": "Topic",
        "odradek.broker.facade.generated.blocking.transcript": "Transcript",
        "odradek.broker.facade.generated.blocking.undo": "Undo",
        "odradek.broker.facade.groups.info": "GroupInfo LagUnknownError MemberInfo",
        "odradek.broker.nodes.node_life": "NodeInfo",
        "odradek.broker.facade.open_broker": "open_broker",
        "odradek.broker.facade.records.record": "DecodedRecord ProducerRecord RecordMetadata StoredRecord",
        "odradek.broker.facade.remote.broker": "connect",
        "odradek.broker.facade.report.strictness": "StrictnessError StrictnessFinding StrictnessWarning",
        "odradek.broker.facade.security_settings": "Acl Security",
        "odradek.broker.facade.state.snapshot": "Snapshot",
        "odradek.broker.facade.thread_bridge": "BrokerClosedError",
        "odradek.broker.facade.threaded": "BrokerFactory KafkaBroker",
        "odradek.broker.facade.topics": "PartitionInfo TopicInfo TopicSpec",
        "odradek.broker.facade.transactions": "TransactionInfo",
        "odradek.broker.faults.fault": "Fault",
        "odradek.broker.faults.wire_fault": "WireFault",
        "odradek.broker.requests.bugs": "Bug",
        "odradek.broker.schemas.record_schemas": "SchemaInfo",
        "odradek.broker.transcript.recorded_request": "RecordedRequest",
        "odradek.broker.transcript.request_list": "Requests",
        "odradek.protocol.errors": "ErrorCode KafkaError",
        "odradek.protocol.message": "ApiMessage",
    }
    _HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
    __all__ = sorted([*_HOMES, "__version__", "compiled"])

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            near = "; types for annotations are in odradek.types" if name[0].isupper() else ""
            text = f"module {__name__!r} has no attribute {name!r}{near}"
            raise AttributeError(text, name=name, obj=sys.modules[__name__])  # so Python adds the nearest name
        from odradek.broker.fast.collector import resting

        with resting():
            value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted(set(globals()) | set(__all__))
