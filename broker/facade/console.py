"""Operations of the page in the browser besides the broker's verbs.

`PageLooks` has counts, and pages of topics and groups; `Console` Kafka's admin requests, the registry, messages.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from copy import copy
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from odradek.broker.facade.groups.description import group_ids, group_info
from odradek.broker.facade.transactions import list_transactions
from odradek.broker.nodes.node_life import node_state
from odradek.broker.requests.context import CloseConnection, ConnectionInfo, RequestContext
from odradek.broker.requests.handlers import LONG_BYTES
from odradek.broker.requests.parked_request import Parked, is_coroutine, response_of
from odradek.broker.requests.request_topics import problems_of
from odradek.broker.security.authorizer import Authorizer
from odradek.broker.security.principal import ANONYMOUS
from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.json_form import from_json, to_json
from odradek.protocol.message_codec import codec

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.broker import Broker
    from odradek.broker.facade.groups.info import GroupInfo
    from odradek.broker.facade.records.record import DecodedRecord, Isolation
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.partitions.partition import Topic
    from odradek.broker.schemas.record_schemas import Part
    from odradek.protocol.apis import ApiSpec
    from odradek.protocol.message import ApiMessage


AdminApi = Literal[
    "AlterClientQuotas",
    "AlterUserScramCredentials",
    "CreateAcls",
    "CreatePartitions",
    "DeleteAcls",
    "DeleteGroups",
    "DescribeAcls",
    "DescribeClientQuotas",
    "DescribeConfigs",
    "DescribeUserScramCredentials",
    "IncrementalAlterConfigs",
    "InitProducerId",
    "ListOffsets",
    "OffsetDelete",
]
"""The requests of an admin client that `Console.admin` takes: what no verb of the broker does."""
_PATIENCE_S = 30


class Console:
    """Operations of the page; the control API serves them to others, too."""

    def __init__(self, cluster: Cluster, look: Call) -> None:
        self._cluster = cluster
        self._look = look

    def admin(self, api: AdminApi, body: dict[str, Any], *, node: int | None = None) -> dict[str, Any]:
        """Answer a request of Kafka's protocol, as JSON in the form of Kafka's own tools and of `odradek decode`.

        The request has the newest version. It needs no rights, meets no fault, and is in no transcript. ``node``: which
        one is asked; by default the first that is up. Raises ProtocolError for a body of another shape, ValueError for
        a request above 16 KiB, KafkaError for the first error in the answer, or if the node is not up
        (BROKER_NOT_AVAILABLE), TimeoutError after 30 seconds.
        """
        spec = API_BY_NAME[api]
        version = spec.request.MAX_VERSION
        request = from_json(spec.request, version, body)
        if (size := len(codec(spec.request, version).encode(request))) > LONG_BYTES:
            raise ValueError(f"{api} of {size} bytes: at most {LONG_BYTES} are answered here")
        answer: Future[Any] = Future()
        try:
            self._look(lambda: self._begin(spec, request, node, answer))
            found = answer.result(_PATIENCE_S)
        except NotYetError:
            raise TimeoutError(f"no answer to {api} after {_PATIENCE_S} s") from None
        except CloseConnection as closed:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"the node closes the connection: {closed}") from None

        for code, text in problems_of(found):
            raise KafkaError(ErrorCode(code), text)
        return to_json(found, spec.response.MAX_VERSION)

    def _begin(self, spec: ApiSpec, request: ApiMessage, node_id: int | None, answer: Future[Any]) -> None:
        """In the broker's thread."""
        up = {each.id: each for each in self._cluster.up_nodes()}
        node = next(iter(up.values()), None) if node_id is None else up.get(node_id)
        services = copy(self._cluster.services)
        if services.authorizer is not None or services.controller_authorizer is not None:
            services.authorizer = services.controller_authorizer = Authorizer([ANONYMOUS])
        handler = None if node is None else services.handlers(node).find(spec.key)
        if node is None or handler is None:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"no node that answers {spec.name} is up")
        context = RequestContext(services, node, ConnectionInfo(), spec.key, spec.request.MAX_VERSION, 0, "odradek")
        found = handler.function(context, request)
        if is_coroutine(found) or isinstance(found, Parked):
            self._cluster.start(self._finish, found, answer)
        else:
            answer.set_result(found)

    async def _finish(self, found: Any, answer: Future[Any]) -> None:
        try:
            answer.set_result(await response_of(found, self._cluster.clock))
        except Exception as error:
            answer.set_exception(error)

    def registry(self, method: Literal["GET", "POST", "PUT", "DELETE"], path: str, body: Any = None) -> Any:
        """The answer of the schema registry that runs with the broker, also while it is stopped. In no transcript.

        ``path`` is one of its REST API, such as ``/subjects?deleted=true``. Raises RuntimeError without a registry, or
        with what it refuses.
        """
        registry = self._cluster.schema_registry
        if registry is None:
            raise RuntimeError("there is no schema registry: start the broker with registry=True, or --registry-port")
        return registry.ask(method, path, body)

    def encode(self, topic: str, data: Any, schema_id: int, *, part: Part = "value") -> dict[str, str]:
        """JSON as the bytes that a serializer writes by a registered schema, as ``{"base64": ...}``.

        Raises ValueError if there is no such schema, or the data do not fit it.
        """
        encoded = self._cluster.record_schemas.encoded(topic, part, schema_id, data)
        return {"base64": base64.b64encode(encoded).decode()}

    def messages(self, request: dict[str, Any]) -> dict[str, Any]:
        """The ``request`` and the ``response`` of a request that the transcript listed, as JSON; null for what was not
        kept. Raises ValueError for another object.
        """
        import json

        from odradek.broker.transcript.json_lines import parse_lines

        [[recorded], _] = parse_lines([json.dumps(request)])
        both = {"request": recorded.request, "response": recorded.response}
        return {
            name: None if each is None else to_json(each, min(recorded.version, each.MAX_VERSION), record_sizes=True)
            for name, each in both.items()
        }

    def remove_fault(self, fault: int) -> None:
        """Remove a fault, by its place in ``faults``; ValueError if there is none."""

        def remove() -> None:
            left = self._cluster.faults
            if not 0 <= fault < len(left):
                raise ValueError(f"there is no fault {fault}: {len(left)} are set, counted from 0")
            del left[fault]
            self._cluster.set_faults(left)

        self._look(remove)


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts, the state of the clock (``now_ms``, ``frozen``), and what there is.

    ``kafka`` is the release that the first node runs, ``registry`` whether a schema registry runs with the broker,
    ``authorizer`` whether ACLs are in force.

    ``nodes_up`` counts nodes that are neither down nor frozen. ``topics`` and ``partitions`` leave out internal topics.
    ``transactions`` counts transactions that are open or ending, ``requests`` the requests in the transcript.
    """

    now_ms: int
    frozen: bool
    nodes: int
    nodes_up: int
    topics: int
    partitions: int
    groups: int
    transactions: int
    requests: int
    faults: int
    bugs: int
    bootstrap_servers: str
    kafka: str
    registry: bool
    authorizer: bool


_MOST = 10_000

S = TypeVar("S", "TopicSummary", "GroupSummary")


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """A summary of a topic over all its partitions.

    ``records`` is the number of offsets between the start and the end of the logs. ``end`` is the sum of the log ends,
    which grows with each record. ``leaderless`` counts partitions without a leader, ``behind`` partitions with a
    replica that is not in sync.
    """

    name: str
    internal: bool
    partitions: int
    records: int
    end: int
    size_bytes: int
    leaderless: int
    behind: int


@dataclass(frozen=True, slots=True)
class TopicPage:
    """A page of topics, ordered by name. ``total`` counts the topics on all pages."""

    total: int
    topics: tuple[TopicSummary, ...]


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A summary of a group; see `GroupInfo`. ``members`` is their number.

    ``committed_lag`` is the lag in the partitions with a committed offset, also where ``lag`` is unknown.
    """

    group_id: str
    type: str
    state: str
    generation: int
    members: int
    lag: int | None
    coordinator: int
    committed_lag: int


@dataclass(frozen=True, slots=True)
class GroupPage:
    """A page of groups, ordered by id. ``total`` counts the groups on all pages."""

    total: int
    groups: tuple[GroupSummary, ...]


def _reads(info: GroupInfo, topic: str) -> bool:
    members = info.members
    return any(topic in (*each.subscription, *each.assignment) for each in members) or any(
        name == topic for name, _ in info.offsets
    )


def _page(
    names: Iterable[str], contains: str, start: int, limit: int, sort: str, summary: Callable[[str], S]
) -> tuple[int, tuple[S, ...]]:
    if start < 0:
        raise ValueError(f"start={start}: pages are counted from 0")
    if not 0 < limit <= _MOST:
        raise ValueError(f"limit={limit}: a page has 1 to {_MOST} rows")
    found = sorted(name for name in names if contains in name)
    end = start + limit
    if not sort:
        return len(found), tuple(map(summary, found[start:end]))
    field = sort.removeprefix("-")

    def place(row: S) -> tuple[bool, Any]:
        value = getattr(row, field, None)
        return value is not None, value

    rows = [summary(name) for name in found]
    if rows and field not in (there := [each.name for each in fields(rows[0])]):
        raise ValueError(f"sort={sort!r}: expected {', '.join(there)}, or one of them behind a minus")
    return len(found), tuple(sorted(rows, key=place, reverse=sort != field)[start:end])


def _topic_summary(topic: Topic) -> TopicSummary:
    parts = topic.partitions
    logs = [log for part in parts if (log := part.log_if_any) is not None]
    ends = [log.log_end_offset for log in logs]
    return TopicSummary(
        name=topic.name,
        internal=topic.internal,
        partitions=len(parts),
        records=sum(ends) - sum(log.log_start_offset for log in logs),
        end=sum(ends),
        size_bytes=sum(log.size_bytes for log in logs),
        leaderless=sum(part.leader_id < 0 for part in parts),
        behind=sum(len(part.isr) < len(part.replicas) for part in parts),
    )


def group_summary(info: GroupInfo) -> GroupSummary:
    """The summary of a snapshot."""
    committed = sum(each.lag or 0 for each in info.offsets.values())
    return GroupSummary(
        info.group_id, info.type, info.state, info.generation, len(info.members), info.lag, info.coordinator, committed
    )


class PageLooks:
    """What the page shows of a broker; the control API serves it, too."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._cluster = broker.cluster
        self._look = broker._look

    def topic_page(
        self, contains: str = "", *, start: int = 0, limit: int = 100, internal: bool = False, sort: str = ""
    ) -> TopicPage:
        """A page of summaries of the topics with ``contains`` in their name, ordered by name, or by ``sort``.

        The page starts at index ``start`` and has at most ``limit`` (1 to 10,000) topics. ``internal=True`` includes
        internal topics. ``sort`` is a field of the summary; ``-records`` begins with the largest. Raises ValueError for
        another ``limit`` or ``sort``.
        """

        def page() -> TopicPage:
            topics = self._cluster.topics
            names = [each.name for each in topics.all() if internal or not each.internal]
            return TopicPage(
                *_page(names, contains, start, limit, sort, lambda name: _topic_summary(topics.by_name(name)))
            )

        return self._look(page)

    def group_page(
        self, contains: str = "", *, start: int = 0, limit: int = 100, sort: str = "", topic: str | None = None
    ) -> GroupPage:
        """A page of summaries of the groups with ``contains`` in their id, ordered by id, or by ``sort``.

        The page starts at index ``start`` and has at most ``limit`` (1 to 10,000) groups. ``sort`` is a field of the
        summary; ``-lag`` begins with the largest. ``topic``: only groups with members or offsets there. Raises
        ValueError for another ``limit`` or ``sort``.
        """
        groups, topics = self._cluster.groups, self._cluster.topics

        def page() -> GroupPage:
            ids = group_ids(groups)
            if topic is not None:
                ids = [each for each in ids if _reads(group_info(groups, topics, each), topic)]
            return GroupPage(
                *_page(ids, contains, start, limit, sort, lambda each: group_summary(group_info(groups, topics, each)))
            )

        return self._look(page)

    def decoded_records(
        self,
        topic: str,
        partition: int | None = None,
        *,
        start: int | None = None,
        isolation: Isolation = "read_uncommitted",
        control: bool = False,
        limit: int | None = None,
    ) -> Sequence[DecodedRecord]:
        """The same as `records`, each as its ``record``, and its ``key`` and ``value`` decoded by their schemas."""
        found = self._broker.records(topic, partition, start=start, isolation=isolation, control=control, limit=limit)
        return found.decoded()

    @property
    def overview(self) -> Overview:
        """Counts of nodes, topics, groups, transactions, requests and faults, and the clock."""
        return self._look(self._overview)

    def _overview(self) -> Overview:
        cluster = self._cluster
        topics = [each for each in cluster.topics.all() if not each.internal]
        now_ms = cluster.clock.now_ms()
        transactions = list_transactions(cluster.transactions, cluster.nodes, now_ms)
        return Overview(
            now_ms=now_ms,
            frozen=cluster.clock.frozen,
            nodes=len(cluster.nodes),
            nodes_up=sum(node_state(cluster, number) == "up" for number in cluster.nodes),
            topics=len(topics),
            partitions=sum(len(each.partitions) for each in topics),
            groups=len(group_ids(cluster.groups)),
            transactions=sum(each.age_ms is not None for each in transactions.values()),
            requests=len(cluster.recent.entries),
            faults=len(cluster.faults),
            bugs=len(cluster.bug_log.bugs),
            bootstrap_servers=self._broker.bootstrap_servers,
            kafka=str(next(iter(cluster.nodes.values())).release),
            registry=cluster.schema_registry is not None,
            authorizer=cluster.services.authorizer is not None,
        )
