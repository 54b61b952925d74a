"""The report over a log directory that Kafka wrote, and over a broker."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.__main__ import main
from odradek.pipeline.html_report import Bars, Lines
from tests.pipeline.test_session import produce, produce_transaction

UTC = datetime.UTC


def test_the_overview_counts_what_is_stored(spark: Any, golden_log_dir: Path) -> None:
    from odradek.pipeline.jobs import report
    from odradek.pipeline.jobs.logs import LogPlace

    place = LogPlace(path=str(golden_log_dir))
    records = place.read(spark, ["d-codecs", "d-seg"]).collect()
    tables = report.overview(place.read(spark, ["d-codecs", "d-seg"]))
    rows = {(row.topic, row.partition): row for row in tables["topics"].collect()}
    assert {key: row.records for key, row in rows.items()} == Counter((each.topic, each.partition) for each in records)
    batches = {(each.topic, each.partition, each.base_offset): each.batch_size for each in records}
    for key, row in rows.items():
        sizes = [size for (*where, _), size in batches.items() if tuple(where) == key]
        assert (row.batches, row.bytes) == (len(sizes), sum(sizes))
        times = [each.timestamp for each in records if (each.topic, each.partition) == key]
        assert (row.first_time, row.last_time) == (min(times), max(times))
    assert sum(row.records for row in tables["activity"].collect()) == len(records)


def test_times_are_put_together_so_that_a_chart_can_be_read(spark: Any) -> None:
    from odradek.pipeline.jobs.report import sections

    began = datetime.datetime(2026, 1, 1, tzinfo=UTC)
    rows = [("t", began + datetime.timedelta(seconds=number), 2) for number in range(1000)]
    table = spark.createDataFrame(rows, "topic string, time timestamp, records bigint")
    (section,) = sections({"activity": table})
    assert isinstance(section.chart, Lines)
    times, values = section.chart.series["t"]
    assert times[:2] == ["2026-01-01T00:00:00", "2026-01-01T00:00:05"]
    assert values == [10.0] * 200
    assert section.columns == []
    (empty,) = sections({"activity": table.limit(0)})
    assert empty.chart is None


def test_a_chart_has_the_largest_series(spark: Any) -> None:
    from odradek.pipeline.jobs.report import sections

    rows = [(f"g{number}", f"t{number:02}", number) for number in range(30)]
    table = spark.createDataFrame(rows, "group_id string, topic string, lag bigint")
    (section,) = sections({"lag": table})
    assert isinstance(section.chart, Bars)
    assert sorted(section.chart.series) == [f"t{number}" for number in range(10, 30)]
    assert section.chart.title == "lag by group (the 20 largest)"
    assert (len(section.rows), section.total) == (30, 30)


@pytest.mark.kafka(topics={"in": 2})
def test_reports_from_the_command_line(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("plotly")
    produce(kafka_broker, "in", ["a", "b", "c"], **{"enable.idempotence": True})
    produce_transaction(kafka_broker, "in", ["kept"], commit=True)
    servers = ["--bootstrap-servers", kafka_broker.bootstrap_servers]
    whole, audited, told = (str(tmp_path / f"{name}.html") for name in ("whole", "audit", "transactions"))
    assert main(["pipeline", "report", whole, *servers]) == 0
    assert main(["pipeline", "audit", "in", *servers, "--report", audited]) == 0
    assert main(["pipeline", "transactions", *servers, "--report", told]) == 0
    assert capsys.readouterr().out.count("report: ") == 3
    text = Path(whole).read_text()
    for name in ("topics", "activity", "transactions", "markers", "hanging"):
        assert f"<h2>{name}</h2>" in text
    assert "<td>in</td>" in text
    assert "<li>passed</li>" in Path(audited).read_text()
    assert "<h2>markers</h2>" in Path(told).read_text()
    assert main(["pipeline", "report", str(tmp_path / "no" / "r.html"), *servers]) == 2
    assert "no folder" in capsys.readouterr().err
