"""Where each API carries an error that concerns a whole request: the one place that maps it.

Most responses have a field for it at the top. The others repeat the items of the request (topics, partitions, groups,
...) with the error beside each; `SHAPES` says which response list repeats which request list, level by level.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from odradek.broker.requests.context import CloseConnection
from odradek.broker.security.principal import ANONYMOUS
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.message import Message

_ITSELF = ""
_FEW = 4


class Level(NamedTuple):
    """One list of the response and the list of the request that it repeats.

    `asked` may lead through an outer list, as in `dirs.topics`. `copied`: response field -> request field of the
    same item; the empty name is the item itself (lists of strings or numbers).
    """

    answered: str
    asked: str
    copied: dict[str, str]


class Shape(NamedTuple):
    """The levels down to the error, for the versions from `low` on; no levels = the error stands at the top.

    `top`: it stands at the top as well.
    """

    low: int
    levels: tuple[Level, ...]
    top: bool = False


def _named(answered: str, asked: str, *fields: str) -> Level:
    return Level(answered, asked, {field: field for field in fields})


def _always(*levels: Level, top: bool = False) -> tuple[Shape, ...]:
    return (Shape(0, levels, top),)


_TOPICS = _named("topics", "topics", "name")
_TOPICS_OR_IDS = _named("topics", "topics", "name", "topic_id")
_PARTITIONS = _named("partitions", "partitions", "partition_index")
_NUMBERED = _named("partitions", "partitions", "partition")
_PARTITION_NUMBERS = Level("partitions", "partition_indexes", {"partition_index": _ITSELF})
_GROUP_IDS = Level("groups", "group_ids", {"group_id": _ITSELF})
_GROUPS = _named("groups", "groups", "group_id")
_RESOURCES = _named("responses", "resources", "resource_type", "resource_name")
_FETCHED = (
    _named("responses", "topics", "topic", "topic_id"),
    Level("partitions", "partitions", {"partition_index": "partition"}),
)
_ELECTED = (
    _named("replica_election_results", "topic_partitions", "topic"),
    Level("partition_result", "partitions", {"partition_id": _ITSELF}),
)
_SHARE_STATE = _always(_named("results", "topics", "topic_id"), _NUMBERED)

SHAPES: dict[str, tuple[Shape, ...]] = {
    "Produce": _always(
        _named("responses", "topic_data", "name", "topic_id"), _named("partition_responses", "partition_data", "index")
    ),
    "Fetch": (Shape(0, _FETCHED), Shape(7, _FETCHED, top=True), Shape(13, ())),
    "ListOffsets": _always(_TOPICS, _PARTITIONS),
    "Metadata": (Shape(0, (_TOPICS_OR_IDS,)), Shape(13, (_TOPICS_OR_IDS,), top=True)),
    "OffsetCommit": _always(_TOPICS_OR_IDS, _PARTITIONS),
    "OffsetFetch": (Shape(0, (_TOPICS, _PARTITION_NUMBERS)), Shape(2, ()), Shape(8, (_GROUPS,))),
    "FindCoordinator": (Shape(0, ()), Shape(4, (Level("coordinators", "coordinator_keys", {"key": _ITSELF}),))),
    "DescribeGroups": _always(Level("groups", "groups", {"group_id": _ITSELF})),
    "CreateTopics": _always(_TOPICS),
    "DeleteTopics": (
        Shape(0, (Level("responses", "topic_names", {"name": _ITSELF}),)),
        Shape(6, (_named("responses", "topics", "name", "topic_id"),)),
    ),
    "DeleteRecords": _always(_TOPICS, _PARTITIONS),
    "OffsetForLeaderEpoch": _always(_named("topics", "topics", "topic"), _NUMBERED),
    "AddPartitionsToTxn": (
        Shape(
            0,
            (
                _named("results_by_topic_v3_and_below", "v3_and_below_topics", "name"),
                Level("results_by_partition", "partitions", {"partition_index": _ITSELF}),
            ),
        ),
        Shape(4, ()),
    ),
    "WriteTxnMarkers": _always(_named("markers", "markers", "producer_id"), _TOPICS, _PARTITION_NUMBERS),
    "TxnOffsetCommit": _always(_TOPICS_OR_IDS, _PARTITIONS),
    "CreateAcls": _always(Level("results", "creations", {})),
    "DeleteAcls": _always(Level("filter_results", "filters", {})),
    "DescribeConfigs": _always(_named("results", "resources", "resource_type", "resource_name")),
    "AlterConfigs": _always(_RESOURCES),
    "IncrementalAlterConfigs": _always(_RESOURCES),
    "AlterReplicaLogDirs": _always(
        Level("results", "dirs.topics", {"topic_name": "name"}),
        Level("partitions", "partitions", {"partition_index": _ITSELF}),
    ),
    "CreatePartitions": _always(_named("results", "topics", "name")),
    "DeleteGroups": _always(Level("results", "groups_names", {"group_id": _ITSELF})),
    "ElectLeaders": (Shape(0, _ELECTED), Shape(1, _ELECTED, top=True)),
    "AlterClientQuotas": _always(_named("entries", "entries", "entity")),
    "AlterPartitionReassignments": _always(_named("responses", "topics", "name"), _PARTITIONS, top=True),
    "ListPartitionReassignments": _always(_TOPICS, _PARTITION_NUMBERS, top=True),
    "DescribeUserScramCredentials": _always(Level("results", "users", {}), top=True),
    "DescribeProducers": _always(_TOPICS, _PARTITION_NUMBERS),
    "DescribeTransactions": _always(Level("transaction_states", "transactional_ids", {"transactional_id": _ITSELF})),
    "DescribeTopicPartitions": _always(_TOPICS),
    "ConsumerGroupDescribe": _always(_GROUP_IDS),
    "ShareGroupDescribe": _always(_GROUP_IDS),
    "StreamsGroupDescribe": _always(_GROUP_IDS),
    "DescribeShareGroupOffsets": _always(_GROUPS),
    "InitializeShareGroupState": _SHARE_STATE,
    "ReadShareGroupState": _SHARE_STATE,
    "WriteShareGroupState": _SHARE_STATE,
    "DeleteShareGroupState": _SHARE_STATE,
    "ReadShareGroupStateSummary": _SHARE_STATE,
}
"""APIs that are not named here have a top-level `error_code` in every version."""

_NOTHING: dict[str, int | None] = {
    "base_offset": -1,
    "committed_offset": -1,
    "end_offset": -1,
    "entries": None,
    "high_watermark": -1,
    "last_stable_offset": -1,
    "leader_epoch": -1,
    "log_append_time_ms": -1,
    "log_start_offset": -1,
    "low_watermark": -1,
    "node_id": -1,
    "offset": -1,
    "port": -1,
    "producer_epoch": -1,
    "producer_id": -1,
    "timestamp": -1,
}
"""Kafka's values of these fields beside an error."""
_ZERO_EPOCH = ("read_share_group_state_summary", "leader_epoch")
"""The exception: this one is 0."""


_MESSAGES_FROM = {"DescribeGroups": 6}
"""First version with an error message, where the field may not simply be left out of older ones."""


_FENCED_FROM = {"AddOffsetsToTxn": 2, "AddPartitionsToTxn": 2, "EndTxn": 2, "InitProducerId": 4}
"""First version whose clients know PRODUCER_FENCED; older ones are told INVALID_PRODUCER_EPOCH."""


def answered_code(api: str, version: int, code: ErrorCode) -> ErrorCode:
    """The code as clients of a version know it."""
    fenced = code is ErrorCode.PRODUCER_FENCED and version < _FENCED_FROM.get(api, 0)
    return ErrorCode.INVALID_PRODUCER_EPOCH if fenced else code


def error_response(request: Any, version: int, code: ErrorCode, message: str | None = None) -> Any:
    """The response that answers all of `request` with one error; CloseConnection where none can carry it."""
    spec = API_BY_KEY[request.API_KEY]
    own = _OWN_ANSWERS.get(spec.name)
    if own is not None:
        return own(request, version, code, message)
    shape = _shape(spec.name, version)
    code = answered_code(spec.name, version, code)
    if version < _MESSAGES_FROM.get(spec.name, 0):
        message = None
    response: Any = spec.response()
    if shape.levels:
        _fill(response, request, shape.levels, code, message)
    if shape.top or not shape.levels:
        if not hasattr(response, "error_code"):
            raise CloseConnection(f"{spec.name} v{version} cannot carry {code.name}")
        _put_error(response, code, message)
    if spec.name == "Metadata":
        for topic in response.topics or ():
            topic.name = topic.name or ""  # a topic asked for by its id: Kafka names it so, whatever the version allows
    return response


def levels_of(request: Any, version: int) -> tuple[Level, ...]:
    """The lists of the response that repeat those of the request; none where the error stands at the top alone."""
    return _shape(API_BY_KEY[request.API_KEY].name, version).levels


def asks_for_many(request: Any, version: int) -> bool:
    """Whether a request names more than a few elements, in its outer list and the one in that together."""
    levels = levels_of(request, version)
    count = 0
    for item in _asked_items(request, levels[0].asked) if levels else ():
        count += 1 if len(levels) == 1 else sum(1 for _ in _asked_items(item, levels[1].asked))
        if count > _FEW:
            return True
    return False


def _shape(name: str, version: int) -> Shape:
    chosen = Shape(0, ())
    for shape in SHAPES.get(name, ()):
        if version >= shape.low:
            chosen = shape
    return chosen


def _fill(target: Any, source: Any, levels: tuple[Level, ...], code: ErrorCode, message: str | None) -> None:
    level, below = levels[0], levels[1:]
    kind: Any = type(target)
    item_class = _item_class(kind, level.answered)
    answers = []
    for asked in _asked_items(source, level.asked):
        answer = item_class()
        if below:
            _fill(answer, asked, below, code, message)
        else:
            _put_error(answer, code, message)
        for field, asked_field in level.copied.items():
            setattr(answer, field, getattr(asked, asked_field) if asked_field else asked)
        answers.append(answer)
    setattr(target, level.answered, answers)


def _asked_items(source: Any, path: str) -> list[Any]:
    items = [source]
    for name in path.split("."):
        items = [inner for item in items for inner in getattr(item, name) or ()]
    return items


def _put_error(target: Any, code: ErrorCode, message: str | None) -> None:
    for field in target.field_names():
        if field in ("error_code", "partition_error_code"):
            setattr(target, field, int(code))
        elif field == "error_message":
            target.error_message = message
        elif field in _NOTHING and (type(target).__module__.rpartition(".")[2], field) != _ZERO_EPOCH:
            setattr(target, field, _NOTHING[field])
        elif field == "records":
            target.records = b""


def _alter_scram_users(request: Any, version: int, code: ErrorCode, message: str | None) -> Any:
    """Each user once, in the order of their names."""
    response: Any = API_BY_KEY[request.API_KEY].response()
    kind: Any = type(response)
    result = _item_class(kind, "results")
    names = {row.name for row in (*request.deletions, *request.upsertions)}
    in_order = sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))  # as Java sorts texts
    response.results = [result(name, int(code), message) for name in in_order]
    return response


def _create_token(request: Any, version: int, code: ErrorCode, message: str | None) -> Any:
    """Kafka names nobody there."""
    response: Any = API_BY_KEY[request.API_KEY].response()
    response.error_code = int(code)
    response.principal_type, response.principal_name = ANONYMOUS.kind, ANONYMOUS.name
    if version >= 3:
        response.token_requester_principal_type = ANONYMOUS.kind
        response.token_requester_principal_name = ANONYMOUS.name
    response.issue_timestamp_ms = response.expiry_timestamp_ms = response.max_timestamp_ms = -1
    return response


def _join_group(request: Any, version: int, code: ErrorCode, message: str | None) -> Any:
    response: Any = API_BY_KEY[request.API_KEY].response()
    _put_error(response, code, message)
    if version >= 7:
        response.protocol_name = None
    return response


_OWN_ANSWERS: dict[str, Callable[[Any, int, ErrorCode, str | None], Any]] = {
    "AlterUserScramCredentials": _alter_scram_users,
    "CreateDelegationToken": _create_token,
    "JoinGroup": _join_group,
}
"""APIs whose answer is not of the form that `SHAPES` can tell."""


@cache
def _item_class(owner: type[Message], field: str) -> type[Any]:
    """The struct class of the items in a list field, as the generated class declares it."""
    from odradek.protocol.schema import ArrayOf, StructOf

    for declared in owner.declare():
        kind = declared.type
        if declared.name == field and isinstance(kind, ArrayOf) and isinstance(kind.element, StructOf):
            return kind.element.message
    raise TypeError(f"{owner.__name__}.{field} is not a list of structs")
