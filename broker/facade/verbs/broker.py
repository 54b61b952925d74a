"""A broker in the caller's trio run."""

from __future__ import annotations

from odradek.broker.facade.verbs.client_metrics import ClientMetricVerbs
from odradek.broker.facade.verbs.faults import FaultVerbs
from odradek.broker.facade.verbs.groups import GroupVerbs
from odradek.broker.facade.verbs.nodes import NodeVerbs
from odradek.broker.facade.verbs.records import RecordVerbs
from odradek.broker.facade.verbs.replication import ReplicationVerbs
from odradek.broker.facade.verbs.requests import RequestVerbs
from odradek.broker.facade.verbs.schemas import SchemaVerbs
from odradek.broker.facade.verbs.state import StateVerbs
from odradek.broker.facade.verbs.topics import TopicVerbs
from odradek.broker.facade.verbs.transactions import TransactionVerbs
from odradek.broker.facade.verbs.wires import WireVerbs


class TrioBroker(
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
    """All verbs. Each is awaited; those that can be taken back may be used in ``async with`` instead."""
