"""The Spark jobs of `odradek pipeline`: each runs one, and prints what comes of it."""

from __future__ import annotations

import argparse
import io
import logging
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odradek.commands import CommandError, client_options, client_security, os_error_text
from odradek.pipeline import session
from odradek.pipeline.html_report import Section, check_report, write_report
from odradek.pipeline.installed_spark import InstalledSpark, PipelineUnavailable, installed_spark, java_command
from odradek.pipeline.jobs import archive, audit, groups, report, retries, transactions
from odradek.pipeline.jobs.coordinator_rows import OFFSETS_TOPIC, STATE_TOPIC
from odradek.pipeline.jobs.handlers import load_handler
from odradek.pipeline.jobs.logs import LogPlace, check_topics, existing_topics
from odradek.pipeline.jobs.retry import BatchReport, RetryJob, wall_clock_ms
from odradek.pipeline.jobs.retry_page import RENEWED_S, RetryHistory, RetryPage
from odradek.pipeline.jobs.retry_policy import RetryPolicy, parse_delay
from odradek.pipeline.progress import clear_line, shown_progress
from odradek.pipeline.streaming import wait_for_end
from odradek.protocol.errors import CorruptDataError, KafkaError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run_job(arguments: argparse.Namespace) -> int:
    """Run the job; what the machine lacks is one line."""
    # A call that Ctrl-C breaks off is logged by the root logger.
    logging.getLogger().addFilter(_not_of_py4j)
    try:
        if arguments.report is not None:
            check_report(arguments.report)
        return _JOBS[arguments.job](arguments)
    except (PipelineUnavailable, ValueError, OSError, KafkaError, CorruptDataError) as error:
        raise CommandError(os_error_text(error) if isinstance(error, OSError) else str(error)) from None
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise CommandError(reason) from None
    finally:
        logging.getLogger().removeFilter(_not_of_py4j)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


_REASONS = (
    (
        r"ModuleNotFoundError: No module named '(odradek|pyarrow|numpy|construct)",
        "a worker's Python has no {}: install odradek[spark] where the workers run, "
        "or name a Python that has it in PYSPARK_PYTHON",
    ),
    (
        r'java\.io\.IOException: Cannot run program "([^"]+)"',
        "a worker has no program {}: name its Python in PYSPARK_PYTHON",
    ),
    (
        r"JAVA_GATEWAY_EXITED",
        "Java ended before Spark was up: the lines above are its own; Spark needs all modules of a JDK",
    ),
    (
        r"PYTHON_VERSION_MISMATCH",
        "a worker's Python is of another version than the driver's: name one of the same in PYSPARK_PYTHON",
    ),
    (
        r"java\.io\.InvalidClassException: org\.apache\.spark\.\S+; local class incompatible",
        "the workers run another version of Spark than the driver: install the driver's, or the cluster's here",
    ),
    # The error of the data source, within Spark's traceback. A line that only begins another traceback has no reason.
    (
        r"^\s*(?:odradek\.[\w.]+"
        r"|(?:OS|FileNotFound|FileExists|NotADirectory|IsADirectory|Permission|Connection\w*|BrokenPipe|Timeout)Error"
        r"): (.+)(?<!call last\):)$",
        "{}",
    ),
    # Spark's errors about a folder and a checkpoint, and Java's about a folder.
    (r"^\[PATH_\w+\] (.+?)\.? (?:Set mode|SQLSTATE)", "{}"),
    (r"(Failed to read log file \S+?\.? [^.]+?)\.?(?: SQLSTATE.*)?$", "{}"),
    (r"\[CONCURRENT_STREAM_LOG_UPDATE\] (.+?)(?: SQLSTATE.*)?$", "{}"),
    (r"\.ParentNotDirectoryException: (.+)$", "{}"),
    (r"\.IOException: (No space left on device|Mkdirs failed to create .+|.*\(Permission denied\))$", "{}"),
)
"""Patterns of errors that Spark wraps, and what to say of each. The first that matches counts."""


def _reason(error: Exception) -> str | None:
    """The cause of an error that Spark wrapped, in one line; None if it is not known."""
    for pattern, words in _REASONS:
        if found := re.findall(pattern, str(error), re.MULTILINE):
            return words.format(found[-1])
    return None


def _said(error: Exception) -> str:
    """The first line of the cause."""
    return (_reason(error) or str(error) or type(error).__name__).splitlines()[0]


def _spark(arguments: argparse.Namespace, *, kafka: bool = False) -> SparkSession:
    """A session; with ``kafka``, one that has Spark's Kafka connector."""
    # Spark 4.2 prints this several times; the jobs work with both versions of pandas.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    settings = _pairs(arguments.conf, "--conf")
    return session.build_session(f"odradek {arguments.job}", master=arguments.master, config=settings, kafka=kafka)


@contextmanager
def _session(arguments: argparse.Namespace) -> Iterator[SparkSession]:
    """A session, and its progress on standard error while the block runs."""
    spark = _spark(arguments)
    with shown_progress(spark, arguments.job, sys.stderr):
        yield spark


def _place(arguments: argparse.Namespace, *topics: str) -> LogPlace:
    """Where the job reads. A folder or a topic that is missing is an error before Spark starts."""
    place = LogPlace(arguments.log_dir, arguments.bootstrap_servers, client_options(arguments.client_config))
    check_topics(place, topics)
    return place


def _checked_spark() -> InstalledSpark:
    """The installed Spark, with a Java that it runs on."""
    spark = installed_spark()
    java_command(spark)
    return spark


def _jars(arguments: argparse.Namespace) -> int:
    from odradek.pipeline.connector import cached_jars, fetch_jars

    spark = _checked_spark()
    if not fetch_jars(spark):  # no Maven: Spark's own resolver fetches them
        _spark(arguments, kafka=True).stop()
    for jar in cached_jars(spark):
        print(jar)
    return 0


def _init(arguments: argparse.Namespace) -> int:
    spark = _checked_spark()
    from odradek.pipeline.flows import check_pipelines, write_project  # it imports pyspark

    check_pipelines(spark)
    folder = Path(arguments.folder)
    for file in write_project(folder):
        print(file)
    print(f"to try it against a broker of its own: {shlex.join(['python', str(folder / 'try_it.py')])}")
    return 0


def _interval(text: str) -> str:
    """A time such as 30s as Spark writes it. Spark's own form is accepted, too."""
    if re.fullmatch(r"\d+ (milli)?(second|minute|hour)s?", text.strip(), re.IGNORECASE):
        return text
    return f"{parse_delay(text)} milliseconds"


def _pairs(given: list[str], what: str) -> dict[str, str]:
    if wrong := [text for text in given if "=" not in text]:
        raise ValueError(f"{what}: {wrong[0]!r} is not NAME=VALUE")
    return dict(text.split("=", 1) for text in given)


def _retry_job(arguments: argparse.Namespace, handler: Callable[[Any], Any], **options: Any) -> RetryJob:
    log_in = {f"kafka.{name}": value for name, value in client_options(arguments.client_config).items()}
    kafka = log_in | _pairs(arguments.kafka, "--kafka")
    policy = _policy(arguments, arguments.jitter)
    servers, checkpoint = arguments.bootstrap_servers, arguments.checkpoint
    return RetryJob(servers, checkpoint, handler, policy=policy, kafka=kafka, **options)


def _policy(arguments: argparse.Namespace, jitter: float = 0.0) -> RetryPolicy:
    delays = tuple(text.strip() for text in arguments.delays.split(",") if text.strip())
    topics = _pairs(arguments.topic, "--topic")
    return RetryPolicy(arguments.main_topic, arguments.failed_topic, delays, topics, jitter)


def _retry(arguments: argparse.Namespace) -> int:
    def on_batch(batch: BatchReport) -> None:
        news = history.add(batch)
        if news:
            print(f"batch {batch.batch}: {history.in_words(batch)}", flush=True)
        if page is not None:
            page.renew(batch, news=news)

    job = _retry_job(
        arguments,
        load_handler(arguments.handler),
        by_batch=arguments.by_batch,
        poll_interval=_interval(arguments.poll_interval),
        create_topics=not arguments.no_create_topics,
        partitions=arguments.partitions,
        in_order=arguments.in_order,
        isolated=arguments.isolated,
        timeout_s=parse_delay(arguments.timeout) / 1000 if arguments.timeout else None,
        on_batch=on_batch,
    )
    history = RetryHistory(job.policy.output_topics)
    missing = job.missing_topics()
    spark = _spark(arguments)  # without a session, no topic is created

    def complain(error: Exception) -> None:
        print(f"retry: the report could not be renewed: {_said(error)}", file=sys.stderr, flush=True)

    page = RetryPage(job, spark, history, partial(_write_page, arguments), complain) if arguments.report else None
    query = job.start(spark, once=arguments.once)
    if missing:
        print(f"created {', '.join(missing)}", flush=True)
    print(f"retrying {job.policy.main_topic} through {', '.join(job.policy.output_topics)}", flush=True)
    try:
        end = "stopped" if wait_for_end(query) else "done"
    except Exception as error:
        if page is not None:
            page.fail(_said(error))
            print(f"report: {arguments.report}", flush=True)
        raise
    print(f"{end}: {history.summary}", flush=True)
    if page is not None:
        with shown_progress(spark, arguments.job, sys.stderr):
            page.finish(end)
        print(f"report: {arguments.report}", flush=True)
    spark.stop()
    return 0


def _replay_failed(arguments: argparse.Namespace) -> int:
    job = _retry_job(arguments, print)
    job.check_replay()
    with _session(arguments) as spark:
        before = retries.replayed_offsets(spark, job.checkpoint)
        count = job.replay_failed(spark)
        said = f"{count} messages from {job.policy.failed_topic} to {job.policy.main_topic}"
        _print(said)
        if arguments.report:
            after = retries.replayed_offsets(spark, job.checkpoint)
            tables = retries.sent_back(spark, job.place, job.policy, before, after)
            _write_report(arguments, report.sections(tables), [said])
    return 0


def _retries(arguments: argparse.Namespace) -> int:
    policy = _policy(arguments)
    place = _place(arguments, policy.main_topic)
    return _show_tables(arguments, lambda spark: retries.run(spark, place, policy, wall_clock_ms()))


def _show_tables(arguments: argparse.Namespace, make: Callable[[SparkSession], dict[str, DataFrame]]) -> int:
    with _session(arguments) as spark:
        tables = make(spark)
        for name, table in tables.items():
            if arguments.output:
                folder = f"{arguments.output.rstrip('/')}/{name}"
                table.write.mode("errorifexists").parquet(folder)
                _print(f"{name}: {folder}")
            else:
                with redirect_stdout(io.StringIO()) as shown:
                    table.selectExpr(*map(_as_text, table.dtypes)).show(arguments.rows, truncate=60)
                _print(f"== {name}\n{shown.getvalue().rstrip()}\n")
        if arguments.report:
            _write_report(arguments, report.sections(tables))
    return 0


def _print(text: str) -> None:
    """Show a result while a session shows its progress."""
    clear_line(sys.stderr)
    print(text, flush=True)


def _as_text(column: tuple[str, str]) -> str:
    """SQL for a column to print: bytes as text."""
    name, kind = column
    return f"cast({name} as string) as {name}" if kind == "binary" else name


def _write_report(
    arguments: argparse.Namespace, parts: Iterable[Section], facts: Iterable[str] = (), *, where: str = ""
) -> None:
    _write_page(arguments, parts, facts, where=where)
    _print(f"report: {arguments.report}")


def _write_page(
    arguments: argparse.Namespace,
    parts: Iterable[Section],
    facts: Iterable[str],
    running: bool = False,
    *,
    where: str = "",
) -> None:
    where = where or f"of {arguments.log_dir or arguments.bootstrap_servers}"
    written = f"written {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC; all times are UTC"
    title = f"odradek pipeline {arguments.job}"
    reload_s = RENEWED_S if running else None
    write_report(arguments.report, title, [where, *facts, written], parts, reload_s=reload_s)


def _groups(arguments: argparse.Namespace) -> int:
    place = _place(arguments)
    _say_if_missing(place, OFFSETS_TOPIC, "group")
    return _show_tables(arguments, lambda spark: groups.run(spark, place))


def _transactions(arguments: argparse.Namespace) -> int:
    place = _place(arguments, *(arguments.topic or ()))
    _say_if_missing(place, STATE_TOPIC, "transaction")
    return _show_tables(arguments, lambda spark: transactions.run(spark, place, arguments.topic))


def _say_if_missing(place: LogPlace, topic: str, what: str) -> None:
    """Explain why the tables are empty."""
    if not existing_topics(place, [topic]):
        print(f"no topic {topic}: there has been no {what} yet", file=sys.stderr, flush=True)


def _audit(arguments: argparse.Namespace) -> int:
    topic, target = arguments.topic, arguments.target
    place = _place(arguments, *filter(None, (topic, target)))
    with _session(arguments) as spark:
        verdict = audit.run(spark, place, topic, target, by=arguments.by, output=arguments.output)
    sys.stdout.write("\n".join(verdict.lines()) + "\n")
    sys.stdout.flush()
    if arguments.report:
        _write_report(arguments, report.verdict_sections(verdict), ["passed" if verdict.passed else "FAILED"])
    return 0 if verdict.passed else 1


def _report(arguments: argparse.Namespace) -> int:
    place = _place(arguments, *(arguments.topic or ()))
    facts = []
    if refused := report.reportable(place).refused:
        facts.append(f"left out, as the user may not read them: {', '.join(refused)}")
        print(facts[0], file=sys.stderr, flush=True)
    with _session(arguments) as spark:
        _write_report(arguments, report.sections(report.run(spark, place, arguments.topic)), facts)
    return 0


def _archive(arguments: argparse.Namespace) -> int:
    if Path(arguments.folder.removeprefix("file:")).exists():
        raise FileExistsError(f"{arguments.folder} already exists")
    place, what = _place(arguments, *(arguments.topic or ())), (arguments.folder, arguments.topic)
    committed = not arguments.uncommitted
    with _session(arguments) as spark:
        count = archive.archive(spark, place, *what, read_committed=committed)
        said = f"{count} records in {arguments.folder}"
        _print(said)
        if arguments.report:
            tables = archive.archived(spark, place, *what, read_committed=committed)
            _write_report(arguments, report.sections(tables), [said])
    return 0


def _replay(arguments: argparse.Namespace) -> int:
    rename = _pairs(arguments.rename, "--rename")
    security = client_security(arguments.client_config)
    with _session(arguments) as spark:
        sent = archive.replay(spark, arguments.folder, arguments.bootstrap_servers, rename=rename, security=security)
        results = sorted(sent.collect())
        if not results:
            _print(f"no records in {arguments.folder}")
        for row in results:
            written = f"{row.records} records in {row.batches} batches from offset {row.first_offset}"
            _print(f"{row.topic}-{row.partition}: {written}")
        if arguments.report:
            where = f"from {arguments.folder} to {arguments.bootstrap_servers}"
            _write_report(arguments, report.sections(archive.replayed(spark, arguments.folder, sent)), where=where)
    return 0


_JOBS: dict[str, Callable[[argparse.Namespace], int]] = {
    "retry": _retry,
    "replay-failed": _replay_failed,
    "retries": _retries,
    "groups": _groups,
    "transactions": _transactions,
    "audit": _audit,
    "report": _report,
    "archive": _archive,
    "replay": _replay,
    "init": _init,
    "jars": _jars,
}
