"""Which modules `make wheel` compiles, and whether this installation has them compiled.

A compiled module is an extension module beside its source, and Python takes it where there is one. All or nothing: the
classes of compiled modules know each other's layout. So an installation that lacks some of them is refused when odradek
is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from os.path import dirname, exists, join

MODULES: Sequence[str] = (
    "broker.api.fetch",
    "broker.api.fetch_reader",
    "broker.api.fetch_sources",
    "broker.api.group_offsets",
    "broker.api.groups",
    "broker.api.guards.fetch",
    "broker.api.guards.produce",
    "broker.api.later",
    "broker.api.merged_topics",
    "broker.api.produce",
    "broker.api.produce_transaction",
    "broker.api.produce_wait",
    "broker.api.producers",
    "broker.coordinator.group.classic.changes",
    "broker.coordinator.group.classic.classic_group",
    "broker.coordinator.group.classic.join_phase",
    "broker.coordinator.group.classic.joining",
    "broker.coordinator.group.classic.kind",
    "broker.coordinator.group.classic.member",
    "broker.coordinator.group.classic.members",
    "broker.coordinator.group.classic.rebalance",
    "broker.coordinator.group.classic.records",
    "broker.coordinator.group.machine",
    "broker.coordinator.group.offset_records",
    "broker.coordinator.group.offsets",
    "broker.coordinator.group.records",
    "broker.coordinator.group.registry",
    "broker.coordinator.group.service",
    "broker.coordinator.group.stored_offsets",
    "broker.coordinator.internal_topic",
    "broker.coordinator.routing",
    "broker.coordinator.service",
    "broker.coordinator.share_state.service",
    "broker.coordinator.transaction.decisions",
    "broker.coordinator.transaction.holds",
    "broker.coordinator.transaction.machine",
    "broker.coordinator.transaction.markers",
    "broker.coordinator.transaction.service",
    "broker.coordinator.transaction.transaction",
    "broker.coordinator.transaction.verification",
    "broker.net.connection",
    "broker.net.connection_states",
    "broker.net.parked",
    "broker.net.poller",
    "broker.net.receive_buffer",
    "broker.net.sending",
    "broker.net.tls_connection",
    "broker.partitions.fetch_sessions",
    "broker.partitions.partition",
    "broker.partitions.waiters",
    "broker.requests.context",
    "broker.requests.dispatch",
    "broker.requests.parked",
    "broker.requests.recent",
    "broker.requests.response",
    "broker.runtime.alarm",
    "broker.runtime.coordinator_batch",
    "broker.runtime.loader",
    "broker.runtime.parked",
    "broker.runtime.partition_journal",
    "broker.runtime.shard",
    "broker.runtime.shard_life",
    "broker.runtime.steps",
    "broker.runtime.timers",
    "broker.runtime.turns",
    "protocol.checksum",
    "protocol.codecs.add_offsets_to_txn",
    "protocol.codecs.add_partitions_to_txn",
    "protocol.codecs.api_versions",
    "protocol.codecs.consumer_group_heartbeat",
    "protocol.codecs.end_txn",
    "protocol.codecs.fetch",
    "protocol.codecs.heartbeat",
    "protocol.codecs.join_group",
    "protocol.codecs.offset_commit",
    "protocol.codecs.produce",
    "protocol.codecs.share_acknowledge",
    "protocol.codecs.share_fetch",
    "protocol.codecs.stored_consumer_group_current_member_assignment",
    "protocol.codecs.stored_consumer_group_member_metadata",
    "protocol.codecs.stored_consumer_group_metadata",
    "protocol.codecs.stored_consumer_group_target_assignment_member",
    "protocol.codecs.stored_consumer_group_target_assignment_metadata",
    "protocol.codecs.stored_group_metadata",
    "protocol.codecs.stored_offset_commit",
    "protocol.codecs.stored_transaction_log",
    "protocol.codecs.streams_group_heartbeat",
    "protocol.codecs.sync_group",
    "protocol.codecs.txn_offset_commit",
    "protocol.message",
    "protocol.messages.add_offsets_to_txn",
    "protocol.messages.add_partitions_to_txn",
    "protocol.messages.api_versions",
    "protocol.messages.consumer_group_heartbeat",
    "protocol.messages.end_txn",
    "protocol.messages.fetch",
    "protocol.messages.find_coordinator",
    "protocol.messages.heartbeat",
    "protocol.messages.init_producer_id",
    "protocol.messages.join_group",
    "protocol.messages.list_offsets",
    "protocol.messages.metadata",
    "protocol.messages.offset_commit",
    "protocol.messages.offset_fetch",
    "protocol.messages.produce",
    "protocol.messages.share_acknowledge",
    "protocol.messages.share_fetch",
    "protocol.messages.streams_group_heartbeat",
    "protocol.messages.sync_group",
    "protocol.messages.txn_offset_commit",
    "protocol.read_committed",
    "protocol.reader",
    "protocol.record_batch",
    "protocol.records",
    "protocol.stored.consumer_group_current_member_assignment",
    "protocol.stored.consumer_group_member_metadata",
    "protocol.stored.consumer_group_metadata",
    "protocol.stored.consumer_group_target_assignment_member",
    "protocol.stored.consumer_group_target_assignment_metadata",
    "protocol.stored.group_metadata",
    "protocol.stored.offset_commit",
    "protocol.stored.transaction_log",
    "protocol.varint",
    "protocol.writer",
    "storage.leader_epochs",
    "storage.memory_backend",
    "storage.memory_indexes",
    "storage.partition_log",
    "storage.producer_state",
    "storage.segment",
    "storage.time_lookup",
    "storage.txn_index",
    "storage.validation",
)
"""The modules that are compiled, below the package `odradek`. setup.py reads them here."""


def is_compiled(folder: str, modules: Sequence[str] = MODULES, suffix: str = EXTENSION_SUFFIXES[0]) -> bool:
    """Whether the package in `folder` is compiled.

    Raises ImportError, with the modules' names, if only a part of it is.
    """
    missing = [module for module in modules if not exists(join(folder, *module.split(".")) + suffix)]
    if missing and len(missing) < len(modules):
        raise ImportError(
            f"odradek in {folder} is compiled only in part: {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not. Install it anew (pip install --force-reinstall odradek)"
        )
    return not missing


compiled: bool = is_compiled(dirname(__file__))
"""Whether this installation's hot modules are compiled ones."""
