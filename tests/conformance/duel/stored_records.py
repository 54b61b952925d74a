"""What a conversation has written to the internal topics and to the metadata log, record by record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from odradek.protocol.json_form import to_json
from odradek.protocol.metadata_records import decode_metadata_record
from odradek.protocol.record_batch import RecordBatch
from odradek.protocol.records import iter_records
from odradek.protocol.stored import decode_record
from odradek.storage.formats.segment_files import stored_batches
from tests.conformance.duel.pairing import Form
from tests.conformance.duel.side import Side

INTERNAL_PARTITIONS = 5
"""Partitions of each internal topic."""
METADATA = "__cluster_metadata"
FAMILIES: Mapping[str, str] = {
    "__consumer_offsets": "group",
    "__transaction_state": "transaction",
    "__share_group_state": "share",
}
"""Internal topic -> the family of its records."""
LOGS = (*FAMILIES, METADATA)
"""These are the names of steps, too."""
_UNSEEN = frozenset({"metadataHash", "metadataEpoch", "leaderEpoch", "directories", "topicHash", "snapshotEpoch", "id"})
"""Hashes that random ids are part of, what each cluster counts for itself, and the ids of ACLs, which nobody sees."""


class StoredRecords:
    """Reads what one side writes from now on. `partitions`: of each internal topic."""

    def __init__(self, side: Side, partitions: int) -> None:
        self._side = side
        self._partitions = partitions
        self._positions: dict[Any, int] = {}
        self._found: dict[str, dict[str, list[Any]]] = {}
        for topic in FAMILIES:
            for partition, end in self._offsets(topic).items():
                self._positions[topic, partition] = end
        for file, end in self._side.read_up_to.items():
            self._positions[file] = end
        for _ in self._batches_of_metadata():
            pass

    def _offsets(self, topic: str) -> dict[int, int]:
        partitions = [
            {"partitionIndex": at, "currentLeaderEpoch": -1, "timestamp": -1} for at in range(self._partitions)
        ]
        body = {"replicaId": -1, "isolationLevel": 0, "topics": [{"name": topic, "partitions": partitions}]}
        (told,) = self._side.ask("ListOffsets", 4, body)["topics"]
        return {each["partitionIndex"]: each["offset"] for each in told["partitions"]}

    def written(self, log: str) -> Form:
        """The records by their keys, each with its values in their order.

        The order of several keys is not the same on both sides by nature.
        """
        found = self._found.setdefault(log, {})
        for key, value in self._metadata() if log == METADATA else self._coordinators(log):
            found.setdefault(key, []).append(value)
        for key in found.keys() & {"ClientQuotaRecord"}:
            # odradek writes those of one change in the order in which brokers take them in.
            found[key].sort(key=lambda value: f"{value['entity']} {value['key']}")
        return {"records": [{"key": key, "values": found[key]} for key in sorted(found)]}

    def _coordinators(self, topic: str) -> Iterator[tuple[str, Any]]:
        partitions = [
            {
                "partition": at,
                "currentLeaderEpoch": -1,
                "fetchOffset": self._positions[topic, at],
                "lastFetchedEpoch": -1,
                "logStartOffset": -1,
                "partitionMaxBytes": 1 << 24,
            }
            for at in range(self._partitions)
        ]
        asked: Form = {"replicaId": -1, "maxWaitMs": 0, "minBytes": 0, "maxBytes": 1 << 24, "isolationLevel": 0}
        asked |= {"sessionId": 0, "sessionEpoch": -1, "forgottenTopicsData": [], "rackId": ""}
        asked["topics"] = [{"topic": topic, "partitions": partitions}]
        (told,) = self._side.ask("Fetch", 12, asked)["responses"]
        for partition in told["partitions"]:
            for batch in partition["records"] or ():
                if batch["lastOffset"] < self._positions[topic, partition["partitionIndex"]]:
                    continue
                self._positions[topic, partition["partitionIndex"]] = batch["lastOffset"] + 1
                yield from _stored(FAMILIES[topic], batch)

    def _metadata(self) -> Iterator[tuple[str, Any]]:
        for batch in self._batches_of_metadata():
            yield from _of_metadata(batch) if not batch.is_control else ()

    def _batches_of_metadata(self) -> Iterator[RecordBatch]:
        folder = self._side.folder
        if folder is None:
            return
        for file in sorted((folder / f"{METADATA}-0").glob("*.log")):
            with file.open("rb") as log:
                log.seek(self._positions.get(file, 0))
                data = log.read()
            for _, batch in stored_batches(data):
                self._positions[file] = self._side.read_up_to[file] = self._positions.get(file, 0) + batch.size_bytes
                yield batch


def _stored(family: str, batch: Form) -> Iterator[tuple[str, Any]]:
    if batch["attributes"] & 0x20:  # a marker
        return
    producer = {"producerId": batch["producerId"], "producerEpoch": batch["producerEpoch"]}
    body = bytes.fromhex(batch["body"])
    for record in iter_records(body, batch["count"], batch["baseOffset"], batch["baseTimestamp"], None):
        key, value = decode_record(family, record.key or b"", record.value)
        shown: Any = None if value is None else {**_form(value), **producer} if family == "group" else _form(value)
        yield f"{type(key).__name__} {_form(key)}", shown


def _of_metadata(batch: RecordBatch) -> Iterator[tuple[str, Any]]:
    for record in batch.records():
        message, version = decode_metadata_record(record.value)
        yield type(message).__name__, {"version": version, **_form(message)}


def _form(message: Any) -> Form:
    form: Form = _seen(to_json(message, message.MAX_VERSION))
    return form


def _seen(form: Any) -> Any:
    if isinstance(form, dict):
        return {name: _seen(value) for name, value in form.items() if name not in _UNSEEN}
    return [_seen(each) for each in form] if isinstance(form, list) else form
