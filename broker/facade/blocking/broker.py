"""A broker in a thread of its own.

Generated from facade/verbs/broker.py: do not edit, run
`python -m odradek.broker.facade.generate_blocking`.
"""

from __future__ import annotations

from odradek.broker.facade.blocking.client_metrics import ClientMetricVerbs
from odradek.broker.facade.blocking.faults import FaultVerbs
from odradek.broker.facade.blocking.groups import GroupVerbs
from odradek.broker.facade.blocking.nodes import NodeVerbs
from odradek.broker.facade.blocking.records import RecordVerbs
from odradek.broker.facade.blocking.replication import ReplicationVerbs
from odradek.broker.facade.blocking.requests import RequestVerbs
from odradek.broker.facade.blocking.schemas import SchemaVerbs
from odradek.broker.facade.blocking.state import StateVerbs
from odradek.broker.facade.blocking.topics import TopicVerbs
from odradek.broker.facade.blocking.transactions import TransactionVerbs
from odradek.broker.facade.blocking.wires import WireVerbs


class BlockingBroker(
    TopicVerbs,
    RecordVerbs,
    SchemaVerbs,
    GroupVerbs,
    TransactionVerbs,
    FaultVerbs,
    NodeVerbs,
    ReplicationVerbs,
    WireVerbs,
    StateVerbs,
    RequestVerbs,
    ClientMetricVerbs,
):
    """All verbs. Each blocks; those that can be taken back may be used in ``with``."""
