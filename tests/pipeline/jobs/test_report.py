"""The report over a log directory that Kafka wrote, and over a broker."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.__main__ import main
from odradek.client_security.options import security_options
from odradek.pipeline.charts import Bars, Lines, Points, TimeBars
from tests.pipeline.test_session import produce, produce_transaction

UTC = datetime.UTC
RIGHTS = odradek.Security(
    users=dict.fromkeys(("alice", "bob"), "secret"),
    acls=[
        odradek.Acl("alice", "READ", topic="in"),
        odradek.Acl("alice", "DESCRIBE", topic="listed"),
        odradek.Acl("alice", "READ", topic="__consumer_offsets"),
    ],
)


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
    assert isinstance(section.chart, TimeBars)
    assert (section.chart.widths_s, section.chart.y) == (5, "records per 5 s")
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
    assert section.chart.title == "lag by group and topic (the 20 largest)"
    assert (len(section.rows), section.left_out) == (30, 0)


def test_transactions_are_drawn_by_their_age(spark: Any) -> None:
    from odradek.pipeline.jobs.report import sections

    began = datetime.datetime.now(UTC) - datetime.timedelta(days=30)
    rows = [("commit", began, 10), ("commit", began, 700), ("abort", began, 11_000), ("open", began, None)]
    table = spark.createDataFrame(rows, "outcome string, start_time timestamp, duration_ms bigint")
    (section,) = sections({"transactions": table})
    assert isinstance(section.chart, Bars)
    assert section.chart.series == {
        "commit": (["10 ms", "1 s"], [1.0, 1.0]),
        "abort": (["30 s"], [1.0]),
        "open": (["more"], [1.0]),
    }
    assert section.chart.order == ["10 ms", "1 s", "30 s", "more"]


def test_lag_is_drawn_as_a_line(spark: Any) -> None:
    from odradek.pipeline.jobs.report import sections

    rows = [("g", datetime.datetime(2026, 1, 1, tzinfo=UTC), lag) for lag in (7, 9)]
    (section,) = sections(
        {"lag_over_time": spark.createDataFrame(rows, "group_id string, commit_time timestamp, lag long")}
    )
    assert section.chart == Lines(
        "largest lag at the commits", {"g": (["2026-01-01T00:00:00"], [9.0])}, "lag (records)"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.01, "10 ms"), (1, "1 s"), (90, "1.5 min"), (1800, "30 min"), (21_600, "6 h"), (604_800, "7 d")],
)
def test_a_span_of_time_in_words(seconds: float, text: str) -> None:
    from odradek.pipeline.jobs.report import duration

    assert duration(seconds) == text


def test_rebalances_are_counted_over_time(spark: Any) -> None:
    from odradek.pipeline.jobs.report import sections

    at = datetime.datetime(2026, 1, 1, tzinfo=UTC)
    rows = [("g", at, "generation"), ("g", at, "joined"), ("g", at + datetime.timedelta(seconds=1), "left")]
    (section,) = sections({"rebalances": spark.createDataFrame(rows, "group_id string, time timestamp, event string")})
    assert isinstance(section.chart, TimeBars)
    assert section.chart.series == {"g": (["2026-01-01T00:00:00", "2026-01-01T00:00:01"], [1.0, 0.0])}


def test_findings_are_drawn_by_partition_and_offset() -> None:
    from odradek.pipeline.jobs.audit import Finding, Verdict
    from odradek.pipeline.jobs.report import verdict_sections

    findings = [Finding("gap", "in", 10, 70, ""), Finding("gap", "in", 2, 9, ""), Finding("double", "in", 2, 8, "")]
    verdict = Verdict({"in records": 9}, {"gap": 2, "double": 1}, findings)
    charts = {section.title: section.chart for section in verdict_sections(verdict)}
    assert charts["checks"] == Bars("findings by check", {"findings": (["gap", "double"], [2, 1])}, "check", "findings")
    assert charts["findings"] == Points(
        "findings by partition and offset",
        {"gap": ([70, 9], ["in-10", "in-2"]), "double": ([8], ["in-2"])},
        ["in-2", "in-10"],
    )


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


def command_as(broker: odradek.KafkaBroker, user: str, folder: Path) -> list[str]:
    config = folder / f"{user}.properties"
    options = security_options(broker.client_config(user))
    config.write_text("".join(f"{name}={value}\n" for name, value in options.items()))
    words = ["--bootstrap-servers", broker.bootstrap_servers, "--client-config", str(config)]
    return ["pipeline", "report", str(folder / "report.html"), *words]


@pytest.mark.kafka(topics=["in", "listed", "unseen"], security=RIGHTS)
def test_a_report_names_the_topics_that_the_user_may_not_read(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for topic in ("in", "listed", "unseen"):
        kafka_broker.produce(topic, "value")
        kafka_broker.group("readers").set_offsets({(topic, 0): 0})
    assert main(command_as(kafka_broker, "alice", tmp_path)) == 0
    left_out = "left out, as the user may not read them: __share_group_state, __transaction_state, listed"
    assert capsys.readouterr().err.splitlines()[0] == left_out
    text = (tmp_path / "report.html").read_text()
    assert f"<li>{left_out}</li>" in text
    topics = text.partition("<h2>topics</h2>")[2].partition("<h2>")[0]
    assert [name for name in ("in", "listed", "unseen") if f"<td>{name}</td>" in topics] == ["in"]
    over_time = text.partition("<h2>lag over time</h2>")[2].partition("<h2>")[0]
    assert [name for name in ("in", "listed", "unseen") if f"<td>{name}</td>" in over_time] == ["in"]


@pytest.mark.kafka(topics=["in"], security=RIGHTS)
def test_without_rights_there_is_no_report(
    kafka_broker: odradek.KafkaBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command_as(kafka_broker, "bob", tmp_path)) == 2
    said = "the user may read no topic: a report takes the rights to describe and to read topics"
    assert capsys.readouterr().err == f"odradek pipeline report: {said}\n"
    assert not (tmp_path / "report.html").exists()
