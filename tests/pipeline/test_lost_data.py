"""The data source where records, topics or rights are gone: an error says where, or the rest is read, as asked.

The readers are called as Spark's workers call them, without a session.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.protocol.record_batch import CorruptBatchError

pytest.importorskip("pyspark")

from odradek.pipeline.rows import COLUMNS
from odradek.pipeline.source import BatchReader, DataLossError, StreamReader
from odradek.pipeline.source_options import OptionError, SourceOptions
from tests.fakes.archives import unpack

COMPLAIN = {"failOnDataLoss": "true"}
GO_ON = {"failOnDataLoss": "false"}
OTHERS = {"orders": {"0": 0}}


def stream_of(given: dict[str, str]) -> StreamReader:
    return StreamReader(SourceOptions.parse(given), tuple(COLUMNS))


def live(broker: odradek.KafkaBroker, options: dict[str, str], **more: str) -> StreamReader:
    where = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "in"}
    return stream_of({**where, **options, **more})


def values(reader: StreamReader | BatchReader, tasks: Any) -> list[bytes]:
    rows = [batch.column("value").to_pylist() for task in tasks for batch in reader.read(task)]
    return [value for part in rows for value in part]


def fill(broker: odradek.KafkaBroker, *texts: str) -> None:
    for text in texts:
        broker.produce("in", text)


@pytest.mark.kafka(topics={"in": 1})
def test_source_goes_on_when_retention_overtakes_a_task(kafka_broker: odradek.KafkaBroker) -> None:
    fill(kafka_broker, "a", "b", "c")
    complaining, going_on = live(kafka_broker, COMPLAIN), live(kafka_broker, GO_ON)
    planned, planned_too = (reader.partitions({"in": {"0": 0}}, {"in": {"0": 3}}) for reader in (complaining, going_on))
    kafka_broker.topic("in").delete_records(before=2)
    with pytest.raises(DataLossError, match="in-0: offsets 0 to 3 were to be read, the log begins at 2"):
        values(complaining, planned)
    assert values(going_on, planned_too) == [b"c"]
    kafka_broker.topic("in").delete_records(before=3)
    assert values(going_on, planned_too) == []


@pytest.mark.kafka(topics={"in": 1})
def test_source_goes_on_when_retention_overtakes_a_stream(kafka_broker: odradek.KafkaBroker) -> None:
    fill(kafka_broker, "a", "b", "c")
    kafka_broker.topic("in").delete_records(before=2)
    with pytest.raises(DataLossError, match="in-0: offsets 1 to 3 were to be read, the log holds 2 to 3"):
        live(kafka_broker, COMPLAIN).partitions({"in": {"0": 1}}, {"in": {"0": 3}})
    reader = live(kafka_broker, GO_ON)
    assert values(reader, reader.partitions({"in": {"0": 1}}, {"in": {"0": 3}})) == [b"c"]


@pytest.mark.kafka(topics={"in": 1})
def test_source_tells_that_a_topic_vanished(kafka_broker: odradek.KafkaBroker) -> None:
    fill(kafka_broker, "a", "b")
    complaining, going_on = live(kafka_broker, COMPLAIN), live(kafka_broker, GO_ON)
    start, end = {"in": {"0": 0}}, {"in": {"0": 2}}
    assert going_on.latestOffset() == end
    tasks = complaining.partitions(start, end), going_on.partitions(start, end)
    kafka_broker.topic("in").delete()
    with pytest.raises(DataLossError, match="in-0: offsets 0 to 2 were to be read, the topic is gone"):
        values(complaining, tasks[0])
    assert values(going_on, tasks[1]) == []
    with pytest.raises(OptionError, match="no topic in"):
        complaining.latestOffset()
    for look in (partial(complaining.latestOffset, end), partial(complaining.partitions, start, end)):
        with pytest.raises(DataLossError, match=r"^the topic in is gone \(set failOnDataLoss to false"):
            look()
    assert going_on.latestOffset() == {}
    assert list(going_on.partitions(end, {})) == []
    with pytest.raises(OptionError, match="no topic in"):  # a stream that begins is told of a slip of the pen
        going_on.initialOffset()


@pytest.mark.kafka(topics={"in": 1})
def test_stream_of_a_topic_that_was_made_anew(kafka_broker: odradek.KafkaBroker) -> None:
    fill(kafka_broker, "new")
    start, end = {"in": {"0": 5}}, {"in": {"0": 1}}
    with pytest.raises(DataLossError, match="in-0: offsets 5 to 1 were to be read, the log holds 0 to 1"):
        live(kafka_broker, COMPLAIN).partitions(start, end)
    reader = live(kafka_broker, GO_ON)
    assert values(reader, reader.partitions(start, end)) == [b"new"]


@pytest.mark.kafka(topics={"in": 1})
def test_a_repeated_batch_of_a_topic_that_was_made_anew(kafka_broker: odradek.KafkaBroker) -> None:
    fill(kafka_broker, "new", "newer")
    start, end = {"in": {"0": 1}, "gone": {"0": 1}}, {"in": {"0": 5}, "gone": {"0": 2}}
    where = {"subscribe": "in,gone"}
    with pytest.raises(DataLossError, match="the topic gone is gone"):
        live(kafka_broker, COMPLAIN | where).partitions(start, end)
    reader = live(kafka_broker, GO_ON | where)
    assert values(reader, reader.partitions(start, end)) == [b"newer"]  # and waits for no more


def test_a_repeated_batch_of_a_folder_that_lost_a_topic(tmp_path: Path) -> None:
    folder = unpack("logdir.tar.gz", "logdir", tmp_path)
    start, end = {"d-seg": {"0": 355}, "gone": {"0": 1}}, {"d-seg": {"0": 400}, "gone": {"0": 2}}
    reader = stream_of({"path": str(folder), "subscribe": "d-seg,gone", **GO_ON})
    assert len(values(reader, reader.partitions(start, end))) == 5


@pytest.mark.kafka(topics={"in": 1})
@pytest.mark.parametrize(("first", "last", "found"), [(0, 9, [b"a", b"b"]), (9, -1, []), (1, 9, [b"b"])])
def test_source_tells_of_offsets_that_never_were(
    kafka_broker: odradek.KafkaBroker, first: int, last: int, found: list[bytes]
) -> None:
    fill(kafka_broker, "a", "b")
    where = {"kafka.bootstrap.servers": kafka_broker.bootstrap_servers, "subscribe": "in"}
    offsets = {"startingOffsets": f'{{"in": {{"0": {first}}}}}', "endingOffsets": f'{{"in": {{"0": {last}}}}}'}
    complaining, going_on = (
        BatchReader(SourceOptions.parse({**where, **offsets, **options}), ("value",)) for options in (COMPLAIN, GO_ON)
    )
    with pytest.raises(DataLossError, match="in-0: offsets 9 to 9 were to be read, the log holds 0 to 2"):
        complaining.partitions()
    assert values(going_on, going_on.partitions()) == found


@pytest.mark.kafka(topics={"in": 1})
def test_a_checkpoint_of_another_topic(kafka_broker: odradek.KafkaBroker) -> None:
    for options in (COMPLAIN, GO_ON):
        reader = live(kafka_broker, options)
        with pytest.raises(OptionError, match="the checkpoint is that of a stream of orders, which the options do not"):
            reader.partitions(OTHERS, {"in": {"0": 0}})
        with pytest.raises(OptionError, match="the checkpoint is that of a stream of orders"):
            reader.latestOffset(OTHERS)  # before Spark writes the answer into the checkpoint
        with pytest.raises(OptionError, match="the last batch in the checkpoint was planned by a stream of orders, wh"):
            reader.partitions({"in": {"0": 0}}, OTHERS)


@pytest.mark.kafka(topics={"in": 1})
@pytest.mark.parametrize("offsets", [5, {"in": 5}, {"in": {"x": 5}}, {"in": {"0": "x"}}, {"in": None}])
def test_source_refuses_a_damaged_checkpoint(kafka_broker: odradek.KafkaBroker, offsets: Any) -> None:
    reader = live(kafka_broker, GO_ON)
    good = {"in": {"0": 0}}
    for look in (partial(reader.latestOffset, offsets), partial(reader.partitions, offsets, good)):
        with pytest.raises(OptionError, match="the checkpoint is damaged, or that of another source: its offsets are "):
            look()
    with pytest.raises(OptionError, match="the checkpoint is damaged"):
        reader.partitions(good, offsets)


@pytest.mark.kafka(topics={"in": 1})
@pytest.mark.parametrize(
    ("api", "place"), [("Metadata", "topic in"), ("ListOffsets", "ListOffsets of in-0"), ("Fetch", "Fetch of in-0")]
)
def test_source_names_a_topic_it_may_not_read(kafka_broker: odradek.KafkaBroker, api: str, place: str) -> None:
    fill(kafka_broker, "a")
    reader = live(kafka_broker, GO_ON)
    tasks = reader.partitions({"in": {"0": 0}}, {"in": {"0": 1}})
    refusal = odradek.Fault(api, answer=odradek.ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    kafka_broker.set_faults(refusal)
    looks = partial(values, reader, tasks) if api == "Fetch" else reader.latestOffset
    with pytest.raises(odradek.KafkaError, match=f"TOPIC_AUTHORIZATION_FAILED: {place}"):
        looks()


@pytest.mark.kafka(topics={"in": 2})
def test_available_now_and_a_limit(kafka_broker: odradek.KafkaBroker) -> None:
    datasource = pytest.importorskip("pyspark.sql.streaming.datasource")
    for partition in (0, 1):
        for _ in range(6):
            kafka_broker.produce("in", "x", partition=partition)
    reader = live(kafka_broker, COMPLAIN, maxOffsetsPerTrigger="4")
    limit = reader.getDefaultReadLimit()
    assert limit == datasource.ReadMaxRows(4)
    assert live(kafka_broker, COMPLAIN).getDefaultReadLimit() == datasource.ReadAllAvailable()
    reader.prepareForTriggerAvailableNow()
    fill(kafka_broker, "too late", "too late")
    seen: list[dict[str, Any]] = []
    at = reader.initialOffset()
    while not seen or seen[-1] != at:
        seen.append(at)
        at = reader.latestOffset(at, limit)
    assert seen == [{"in": {"0": n, "1": n}} for n in (0, 2, 4, 6)]
    assert reader.latestOffset(seen[0], datasource.ReadAllAvailable()) == seen[-1]
    reported = reader.reportLatestOffset()
    assert sum(reported["in"].values()) == 14


def test_a_segment_vanishes_and_another_is_damaged(tmp_path: Path) -> None:
    folder = unpack("logdir.tar.gz", "logdir", tmp_path)
    for options in (COMPLAIN, GO_ON):
        reader = stream_of({"path": str(folder), "subscribe": "d-seg", **options})
        tasks = reader.partitions(reader.initialOffset(), reader.latestOffset())
        first = min((folder / "d-seg-0").glob("*.log"))
        if options is COMPLAIN:
            data = bytearray(first.read_bytes())
            data[100] ^= 1
            first.write_bytes(data)
            with pytest.raises(CorruptBatchError, match=r"d-seg-0, batch of offsets 0 to .*: the batch's checksum is "):
                values(reader, tasks)
            first.unlink()
            with pytest.raises(DataLossError, match=rf"d-seg-0: offsets 0 to .* were to be read, {first} is gone"):
                values(reader, tasks)
        else:
            assert 0 < len(values(reader, tasks)) < 360
