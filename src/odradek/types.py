"""Types that a test meets, and names only in annotations: ``def lag_of(found: odradek.types.OffsetInfo)``.

`open_broker` gives a `TrioBroker`, `connect` a `RemoteBroker`. They and `KafkaBroker` are each a `Broker`.
"""

# ruff: noqa: I001  one import for each home

from odradek.broker.clock import ClockChange as ClockChange
from odradek.broker.facade.broker import Broker as Broker
from odradek.broker.facade.generated.blocking.broker import BlockingBroker as BlockingBroker
from odradek.broker.facade.groups.info import (
    OffsetInfo as OffsetInfo,
    SharePartitionInfo as SharePartitionInfo,
    StreamsGroupInfo as StreamsGroupInfo,
    StreamsMemberInfo as StreamsMemberInfo,
    SubtopologyInfo as SubtopologyInfo,
)
from odradek.broker.facade.records.record import Listed as Listed, Records as Records
from odradek.broker.facade.remote.broker import RemoteBroker as RemoteBroker, RemoteFork as RemoteFork
from odradek.broker.facade.verb_base import Pending as Pending
from odradek.broker.facade.verbs.broker import TrioBroker as TrioBroker
from odradek.broker.facade.verbs.coordinators import TrioGroup as TrioGroup
from odradek.broker.facade.verbs.topics import TrioTopic as TrioTopic
from odradek.broker.facade.verbs.coordinators import TrioTransactionHold as TrioTransactionHold
from odradek.broker.facade.verbs.transcript import TrioTranscript as TrioTranscript
from odradek.broker.facade.verbs.undo import TrioUndo as TrioUndo
from odradek.broker.faults.fault import FaultContext as FaultContext
from odradek.broker.requests.context import ConnectionInfo as ConnectionInfo
from odradek.broker.schemas.record_schemas import Decoded as Decoded
from odradek.broker.security.denials import Denial as Denial
from odradek.broker.telemetry.pushes import ClientMetric as ClientMetric
from odradek.broker.telemetry.pushes import TelemetryPush as TelemetryPush
from odradek.broker.transcript.recorded_request import RegistryRequest as RegistryRequest
from odradek.broker.transcript.topic_positions import TopicPosition as TopicPosition
