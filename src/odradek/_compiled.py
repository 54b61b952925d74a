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
    "broker.api.consumer_groups",
    "broker.api.fetch",
    "broker.api.group_offsets",
    "broker.api.group_requests",
    "broker.api.groups",
    "broker.api.produce",
    "broker.api.producers",
    "broker.api.share_groups",
    "broker.api.streams_groups",
    "broker.api.transactions",
    "broker.clock_face",
    "broker.coordinator.group.assignment",
    "broker.coordinator.group.classic.group",
    "broker.coordinator.group.classic.kind",
    "broker.coordinator.group.classic.rebalance",
    "broker.coordinator.group.consumer.assignors",
    "broker.coordinator.group.consumer.classic_members",
    "broker.coordinator.group.consumer.group",
    "broker.coordinator.group.consumer.kind",
    "broker.coordinator.group.consumer.progress",
    "broker.coordinator.group.epoch_group",
    "broker.coordinator.group.groups",
    "broker.coordinator.group.machine",
    "broker.coordinator.group.offsets",
    "broker.coordinator.group.records",
    "broker.coordinator.group.service",
    "broker.coordinator.group.settings",
    "broker.coordinator.group.share.group",
    "broker.coordinator.group.share.kind",
    "broker.coordinator.group.streams.group",
    "broker.coordinator.group.streams.kind",
    "broker.coordinator.group.streams.progress",
    "broker.coordinator.group.topics",
    "broker.coordinator.service",
    "broker.coordinator.share_state.commands",
    "broker.coordinator.share_state.service",
    "broker.coordinator.transaction.decisions",
    "broker.coordinator.transaction.holds",
    "broker.coordinator.transaction.machine",
    "broker.coordinator.transaction.service",
    "broker.coordinator.transaction.states",
    "broker.coordinator.transaction.transaction",
    "broker.coordinator.transaction.verification",
    "broker.fast.held_answers",
    "broker.fast.held_appends",
    "broker.fast.parked_connections",
    "broker.fast.poller",
    "broker.fast.produce_answer",
    "broker.metadata.node",
    "broker.net.connection",
    "broker.net.connection_states",
    "broker.net.receive_buffer",
    "broker.net.sending",
    "broker.net.tls_connection",
    "broker.partitions.fetch_sessions",
    "broker.partitions.partition",
    "broker.partitions.partition_registry",
    "broker.partitions.waiters",
    "broker.requests.context",
    "broker.requests.dispatch",
    "broker.requests.parked_request",
    "broker.requests.recent_requests",
    "broker.runtime.journal",
    "broker.runtime.machine",
    "broker.runtime.shard",
    "broker.runtime.timers",
    "protocol.checksum",
    "protocol.codec_parts",
    "protocol.control",
    "protocol.generated.codecs.add_offsets_to_txn",
    "protocol.generated.codecs.add_partitions_to_txn",
    "protocol.generated.codecs.api_versions",
    "protocol.generated.codecs.consumer_group_heartbeat",
    "protocol.generated.codecs.end_txn",
    "protocol.generated.codecs.fetch",
    "protocol.generated.codecs.heartbeat",
    "protocol.generated.codecs.join_group",
    "protocol.generated.codecs.offset_commit",
    "protocol.generated.codecs.produce",
    "protocol.generated.codecs.share_acknowledge",
    "protocol.generated.codecs.share_fetch",
    "protocol.generated.codecs.stored_consumer_group_current_member_assignment",
    "protocol.generated.codecs.stored_consumer_group_member_metadata",
    "protocol.generated.codecs.stored_consumer_group_metadata",
    "protocol.generated.codecs.stored_consumer_group_target_assignment_member",
    "protocol.generated.codecs.stored_consumer_group_target_assignment_metadata",
    "protocol.generated.codecs.stored_group_metadata",
    "protocol.generated.codecs.stored_offset_commit",
    "protocol.generated.codecs.stored_transaction_log",
    "protocol.generated.codecs.streams_group_heartbeat",
    "protocol.generated.codecs.sync_group",
    "protocol.generated.codecs.txn_offset_commit",
    "protocol.generated.messages.add_offsets_to_txn",
    "protocol.generated.messages.add_partitions_to_txn",
    "protocol.generated.messages.api_versions",
    "protocol.generated.messages.consumer_group_heartbeat",
    "protocol.generated.messages.end_txn",
    "protocol.generated.messages.fetch",
    "protocol.generated.messages.find_coordinator",
    "protocol.generated.messages.heartbeat",
    "protocol.generated.messages.init_producer_id",
    "protocol.generated.messages.join_group",
    "protocol.generated.messages.list_offsets",
    "protocol.generated.messages.metadata",
    "protocol.generated.messages.offset_commit",
    "protocol.generated.messages.offset_fetch",
    "protocol.generated.messages.produce",
    "protocol.generated.messages.share_acknowledge",
    "protocol.generated.messages.share_fetch",
    "protocol.generated.messages.streams_group_heartbeat",
    "protocol.generated.messages.sync_group",
    "protocol.generated.messages.txn_offset_commit",
    "protocol.generated.stored.consumer_group_current_member_assignment",
    "protocol.generated.stored.consumer_group_member_metadata",
    "protocol.generated.stored.consumer_group_metadata",
    "protocol.generated.stored.consumer_group_target_assignment_member",
    "protocol.generated.stored.consumer_group_target_assignment_metadata",
    "protocol.generated.stored.group_metadata",
    "protocol.generated.stored.offset_commit",
    "protocol.generated.stored.transaction_log",
    "protocol.java_maps",
    "protocol.message",
    "protocol.record_batch",
    "protocol.records",
    "protocol.uuids",
    "protocol.varint",
    "storage.backend",
    "storage.filling",
    "storage.leader_epochs",
    "storage.log_config",
    "storage.memory_backend",
    "storage.partition_log",
    "storage.producer_state",
    "storage.segment",
    "storage.segment_lookup",
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
