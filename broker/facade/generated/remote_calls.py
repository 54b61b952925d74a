"""The looks and verbs of a broker over HTTP.

Generated from facade/broker.py and facade/verbs: do not edit, run `make generate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.remote.transport import Transport
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from odradek.broker.facade.client_configs import Client
    from odradek.broker.facade.disks import DiskHow
    from odradek.broker.facade.generated.blocking.transactions import TransactionHold
    from odradek.broker.facade.generated.blocking.undo import Undo
    from odradek.broker.facade.groups.info import GroupInfo
    from odradek.broker.facade.links import End, How
    from odradek.broker.facade.nodes import NodeInfo
    from odradek.broker.facade.records.record import Isolation, StoredRecord
    from odradek.broker.facade.report.strictness import StrictnessFinding
    from odradek.broker.facade.state.snapshot import Snapshot
    from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S
    from odradek.broker.facade.topics import TopicInfo
    from odradek.broker.facade.transactions import TransactionInfo
    from odradek.broker.faults.fault import Fault
    from odradek.broker.requests.bugs import Bug
    from odradek.broker.schemas.record_schemas import Kind, Part, SchemaInfo
    from odradek.broker.security.denials import Denial
    from odradek.broker.telemetry.otlp import ClientMetric
    from odradek.broker.telemetry.pushes import TelemetryPush


class RemoteCalls(BlockingBroker):
    """Each member asks the broker's process."""

    @property
    def _remote(self) -> Transport:
        raise NotImplementedError

    @property
    def bootstrap_servers(self) -> str:
        result: str = self._remote.call("bootstrap_servers")
        return result

    def bootstrap_servers_of(self, listener: str) -> str:
        result: str = self._remote.call("bootstrap_servers_of", listener=listener)
        return result

    @property
    def schema_registry_url(self) -> str:
        result: str = self._remote.call("schema_registry_url")
        return result

    def client_config(
        self, user: str | None = None, client: Client = "confluent", *, mechanism: str | None = None, fast: bool = False
    ) -> dict[str, Any]:
        result: dict[str, Any] = self._remote.call(
            "client_config", user=user, client=client, mechanism=mechanism, fast=fast
        )
        return result

    @property
    def topics(self) -> dict[str, TopicInfo]:
        result: dict[str, TopicInfo] = self._remote.call("topics")
        return result

    @property
    def all_topics(self) -> dict[str, TopicInfo]:
        result: dict[str, TopicInfo] = self._remote.call("all_topics")
        return result

    def topic(self, name: str) -> TopicInfo:
        result: TopicInfo = self._remote.call("topic", name=name)
        return result

    @property
    def nodes(self) -> dict[int, NodeInfo]:
        result: dict[int, NodeInfo] = self._remote.call("nodes")
        return result

    @property
    def schemas(self) -> list[SchemaInfo]:
        result: list[SchemaInfo] = self._remote.call("schemas")
        return result

    @property
    def groups(self) -> dict[str, GroupInfo]:
        result: dict[str, GroupInfo] = self._remote.call("groups")
        return result

    @property
    def transactions(self) -> dict[str, TransactionInfo]:
        result: dict[str, TransactionInfo] = self._remote.call("transactions")
        return result

    @property
    def faults(self) -> list[Fault]:
        result: list[Fault] = self._remote.call("faults")
        return result

    @property
    def denied(self) -> list[Denial]:
        result: list[Denial] = self._remote.call("denied")
        return result

    @property
    def bugs(self) -> list[Bug]:
        result: list[Bug] = self._remote.call("bugs")
        return result

    @property
    def mark(self) -> float:
        result: float = self._remote.call("mark")
        return result

    def report(self, *, since: float | None = None, asked_only: bool = False) -> str:
        result: str = self._remote.call("report", since=since, asked_only=asked_only)
        return result

    def why(self, group_id: str) -> str:
        result: str = self._remote.call("why", group_id=group_id)
        return result

    @property
    def strictness(self) -> list[StrictnessFinding]:
        result: list[StrictnessFinding] = self._remote.call("strictness")
        return result

    def strictness_since(self, since: float | None = None, also: str = "") -> list[StrictnessFinding]:
        result: list[StrictnessFinding] = self._remote.call("strictness_since", since=since, also=also)
        return result

    @property
    def client_metrics(self) -> list[ClientMetric]:
        result: list[ClientMetric] = self._remote.call("client_metrics")
        return result

    @property
    def telemetry_pushes(self) -> list[TelemetryPush]:
        result: list[TelemetryPush] = self._remote.call("telemetry_pushes")
        return result

    def snapshot(self) -> Snapshot:
        result: Snapshot = self._remote.call("snapshot")
        return result

    def restore(self, snapshot: Snapshot) -> None:
        self._remote.call("restore", snapshot=snapshot)

    def reset(self, *, data: bool = True) -> None:
        self._remote.call("reset", data=data)

    def set_offsets(self, group_id: str, offsets: Mapping[tuple[str, int], int]) -> None:
        self._remote.call("set_offsets", group_id=group_id, offsets=offsets)

    def reload_coordinator(self, partition: int, topic: str = "__consumer_offsets") -> None:
        self._remote.call("reload_coordinator", partition=partition, topic=topic)

    def hold_load(self, topic: str, partition: int | None = None, *, now: bool = False) -> Undo:
        result: Undo = self._remote.call("hold_load", topic=topic, partition=partition, now=now)
        return result

    def stop_node(self, node_id: int, *, broker_only: bool = False) -> Undo:
        result: Undo = self._remote.call("stop_node", node_id=node_id, broker_only=broker_only)
        return result

    def kill_node(self, node_id: int) -> Undo:
        result: Undo = self._remote.call("kill_node", node_id=node_id)
        return result

    def start_node(self, node_id: int, *, config: Mapping[str, Any] | None = None) -> None:
        self._remote.call("start_node", node_id=node_id, config=config)

    def add_node(self, *, node_id: int | None = None, config: Mapping[str, Any] | None = None) -> int:
        result: int = self._remote.call("add_node", node_id=node_id, config=config)
        return result

    def remove_node(self, node_id: int) -> None:
        self._remote.call("remove_node", node_id=node_id)

    def upgrade(self, version: str, node: int | None = None) -> None:
        self._remote.call("upgrade", version=version, node=node)

    def move_leader(self, topic: str, partition: int, node_id: int) -> Undo:
        result: Undo = self._remote.call("move_leader", topic=topic, partition=partition, node_id=node_id)
        return result

    def elect(
        self, topic: str, partition: int | None = None, *, node_id: int | None = None, unclean: bool = False
    ) -> None:
        self._remote.call("elect", topic=topic, partition=partition, node_id=node_id, unclean=unclean)

    def reassign(self, topic: str, partition: int, replicas: Sequence[int]) -> Undo:
        result: Undo = self._remote.call("reassign", topic=topic, partition=partition, replicas=replicas)
        return result

    def pause_replication(self, topic: str, partition: int | None, node_id: int) -> Undo:
        result: Undo = self._remote.call("pause_replication", topic=topic, partition=partition, node_id=node_id)
        return result

    def lag_replication(
        self,
        topic: str,
        partition: int | None,
        node_id: int,
        *,
        records: int | None = None,
        size_bytes: int | None = None,
        seconds: float | None = None,
    ) -> Undo:
        result: Undo = self._remote.call(
            "lag_replication",
            topic=topic,
            partition=partition,
            node_id=node_id,
            records=records,
            size_bytes=size_bytes,
            seconds=seconds,
        )
        return result

    def resume_replication(self, topic: str, partition: int | None, node_id: int) -> None:
        self._remote.call("resume_replication", topic=topic, partition=partition, node_id=node_id)

    def heal(self) -> None:
        self._remote.call("heal")

    def freeze_node(self, node_id: int) -> Undo:
        result: Undo = self._remote.call("freeze_node", node_id=node_id)
        return result

    def thaw_node(self, node_id: int) -> None:
        self._remote.call("thaw_node", node_id=node_id)

    def cut(self, a: End, b: End | None = None, *, how: How = "silent", listener: str | None = None) -> Undo:
        result: Undo = self._remote.call("cut", a=a, b=b, how=how, listener=listener)
        return result

    def slow(
        self,
        a: End,
        b: End | None = None,
        *,
        ms: float = 0,
        jitter: float = 0,
        bytes_per_second: int | None = None,
        listener: str | None = None,
        both_ways: bool = False,
    ) -> Undo:
        result: Undo = self._remote.call(
            "slow",
            a=a,
            b=b,
            ms=ms,
            jitter=jitter,
            bytes_per_second=bytes_per_second,
            listener=listener,
            both_ways=both_ways,
        )
        return result

    def mend(self, a: End, b: End | None = None, *, listener: str | None = None) -> None:
        self._remote.call("mend", a=a, b=b, listener=listener)

    def refuse_connections(self, node_id: int, *, listener: str | None = None) -> Undo:
        result: Undo = self._remote.call("refuse_connections", node_id=node_id, listener=listener)
        return result

    def fail_disk(
        self,
        node_id: int | None = None,
        how: DiskHow = "full",
        *,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
    ) -> Undo:
        result: Undo = self._remote.call(
            "fail_disk", node_id=node_id, how=how, topic=topic, partition=partition, offset=offset
        )
        return result

    def slow_disk(self, node_id: int, *, ms: float) -> Undo:
        result: Undo = self._remote.call("slow_disk", node_id=node_id, ms=ms)
        return result

    def subscribe_client_metrics(self, name: str, config: Mapping[str, Any]) -> None:
        self._remote.call("subscribe_client_metrics", name=name, config=config)

    def create_topic(
        self, name: str, partitions: int = 1, *, replication_factor: int = -1, config: Mapping[str, Any] | None = None
    ) -> TopicInfo:
        result: TopicInfo = self._remote.call(
            "create_topic", name=name, partitions=partitions, replication_factor=replication_factor, config=config
        )
        return result

    def delete_topic(self, name: str) -> None:
        self._remote.call("delete_topic", name=name)

    def delete_records(self, topic: str, partition: int | None = None, *, before: int = -1) -> dict[int, int]:
        result: dict[int, int] = self._remote.call("delete_records", topic=topic, partition=partition, before=before)
        return result

    def wait_records(
        self,
        topic: str,
        count: int,
        *,
        partition: int | None = None,
        isolation: Isolation = "read_uncommitted",
        timeout: float = WAIT_TIMEOUT_S,
    ) -> list[StoredRecord]:
        result: list[StoredRecord] = self._remote.call(
            "wait_records", topic=topic, count=count, partition=partition, isolation=isolation, timeout=timeout
        )
        return result

    def set_schema(
        self,
        topic: str,
        schema: str | bytes,
        *,
        part: Part = "value",
        kind: Kind | None = None,
        message: str | None = None,
        schema_id: int | None = None,
    ) -> Undo:
        result: Undo = self._remote.call(
            "set_schema", topic=topic, schema=schema, part=part, kind=kind, message=message, schema_id=schema_id
        )
        return result

    def stop_schema_registry(self) -> Undo:
        result: Undo = self._remote.call("stop_schema_registry")
        return result

    def start_schema_registry(self) -> None:
        self._remote.call("start_schema_registry")

    def remove_schema(self, topic: str, *, part: Part = "value", schema_id: int | None = None) -> None:
        self._remote.call("remove_schema", topic=topic, part=part, schema_id=schema_id)

    def hold(self, transactional_id: str, at: str) -> TransactionHold:
        result: TransactionHold = self._remote.call("hold", transactional_id=transactional_id, at=at)
        return result
