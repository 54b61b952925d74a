"""`odradek pipeline JOB`: the Spark jobs over Kafka's logs."""

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

from odradek.commands import (
    CommandError,
    CommandParser,
    add_client_config,
    client_options,
    client_security,
    os_error_text,
)
from odradek.pipeline import session
from odradek.pipeline.html_report import Section, check_report, write_report
from odradek.pipeline.installed_spark import InstalledSpark, PipelineUnavailable, installed_spark, java_command
from odradek.pipeline.jobs import archive, audit, groups, report, retries, transactions
from odradek.pipeline.jobs.coordinator_rows import OFFSETS_TOPIC, STATE_TOPIC
from odradek.pipeline.jobs.handlers import load_handler
from odradek.pipeline.jobs.logs import LogPlace, check_topics, has_topic
from odradek.pipeline.jobs.retry import BatchReport, RetryJob, wall_clock_ms
from odradek.pipeline.jobs.retry_page import RENEWED_S, RetryHistory, RetryPage
from odradek.pipeline.jobs.retry_policy import DEFAULT_DELAYS, RetryPolicy, parse_delay
from odradek.pipeline.progress import clear_line, shown_progress
from odradek.pipeline.streaming import wait_for_end
from odradek.protocol.errors import CorruptDataError, KafkaError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_AT = "--bootstrap-servers 127.0.0.1:9092"
_EXAMPLES = {
    "retry": f"--handler shop.py:ship --checkpoint DIR --main-topic orders {_AT}",
    "replay-failed": f"--checkpoint DIR --main-topic orders {_AT}",
    "retries": f"--main-topic orders {_AT}",
    "groups": f"{_AT} --report groups.html",
    "transactions": "--log-dir DIR",
    "audit": f"orders shipped {_AT}",
    "report": f"report.html {_AT}",
    "archive": f"FOLDER --topic orders {_AT}",
    "replay": f"FOLDER {_AT} --rename orders=orders-again",
    "init": "FOLDER",
    "jars": "",
}
_REPORT_HELP = "write the results as one HTML page with charts, too"


def add_arguments(parser: CommandParser) -> None:
    """Declare the jobs and their options."""
    jobs = parser.add_subparsers(dest="job", metavar="JOB", required=True)
    page = "show the job as an HTML page, renewed each minute while there is news"
    retry = _add(jobs, "retry", "process a topic and retry failed messages after growing delays", _retry, report=page)
    _retry_job_arguments(retry)
    _retry_arguments(retry)
    again = _add(jobs, "replay-failed", "send the messages of the failed topic back to the main topic", _replay_failed)
    _retry_arguments(again)
    messages = _add(jobs, "retries", "show the messages of a retry pipeline: attempts, time in retry", _retries)
    _table_arguments(messages)
    _policy_arguments(messages)
    text = "show groups of all types as tables, from __consumer_offsets and __share_group_state"
    _table_arguments(_add(jobs, "groups", text, _groups))
    text = "show __transaction_state and transaction markers as tables"
    of_transactions = _add(jobs, "transactions", text, _transactions)
    _table_arguments(of_transactions)
    _topics_argument(of_transactions, "search for markers")
    text = "find gaps, duplicates and losses in a topic or a pair of topics; exit status 1 if there are any"
    checked = _add(jobs, "audit", text, _audit)
    _place_arguments(checked)
    checked.add_argument("topic")
    checked.add_argument("target", nargs="?", help="topic that should hold the results of the first topic's records")
    checked.add_argument("--by", help="how to identify a record: key or header:NAME")
    checked.add_argument("--output", metavar="DIR", help="also write all findings as parquet into this new directory")
    whole = _add(jobs, "report", "one HTML page with charts: topics, groups, transactions", _report, report=None)
    whole.add_argument("report", metavar="file", help="an HTML file; one that is there is replaced")
    _place_arguments(whole)
    _topics_argument(whole, "show")
    archived = _add(jobs, "archive", "write topics to parquet", _archive)
    _place_arguments(archived)
    archived.add_argument("folder", help="directory to create")
    _topics_argument(archived, "archive")
    archived.add_argument("--uncommitted", action="store_true", help="include records of aborted and open transactions")
    replay = _add(jobs, "replay", "write an archive back to a cluster", _replay)
    replay.add_argument("folder", help="directory of the archive")
    _cluster_arguments(replay)
    replay.add_argument("--rename", action="append", default=[], metavar="OLD=NEW")
    text = "write a project of Spark's declarative pipelines that uses the jobs"
    _add(jobs, "init", text, _init, report=None).add_argument("folder", help="directory to create")
    text = "download the jars of Spark's own Kafka connector into the cache; no job needs them"
    _add(jobs, "jars", text, _jars, report=None)


def _retry_job_arguments(retry: CommandParser) -> None:
    handler_help = "function that processes a message; FILE.py:FUNCTION is accepted, too"
    retry.add_argument("--handler", required=True, metavar="MODULE:FUNCTION", help=handler_help)
    retry.add_argument("--by-batch", action="store_true", help="pass the handler a list of messages")
    order_help = "hold the messages of a key while one before them waits for its retry"
    retry.add_argument("--in-order", action="store_true", help=order_help)
    isolated_help = "a message that ends or hangs the handler's process has failed"
    retry.add_argument("--isolated", action="store_true", help=isolated_help)
    retry.add_argument("--timeout", metavar="TIME", help="for a call of an isolated handler: 30s, 5m (default: none)")
    retry.needs("--timeout", "--isolated")
    retry.add_argument("--once", action="store_true", help="exit once all messages that are due have been processed")
    poll_help = "how often to look for messages that have become due (default: 1s)"
    retry.add_argument("--poll-interval", default="1s", metavar="TIME", help=poll_help)
    topics = retry.add_mutually_exclusive_group()
    partitions_help = "partitions of new topics (default: as many as the main topic has)"
    topics.add_argument("--partitions", type=_count, metavar="N", help=partitions_help)
    create_help = "exit if a topic is missing instead of creating it"
    topics.add_argument("--no-create-topics", action="store_true", help=create_help)


def run(arguments: argparse.Namespace) -> int:
    """Run the job; what the machine lacks is one line."""
    job: Callable[[argparse.Namespace], int] = arguments.run_job
    # A call that Ctrl-C breaks off is logged by the root logger.
    logging.getLogger().addFilter(_not_of_py4j)
    try:
        check_report(arguments.report)
        return job(arguments)
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


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"a number from 1 on, not {text!r}")
    return int(text)


def _add(
    jobs: argparse._SubParsersAction[CommandParser],
    name: str,
    text: str,
    run_job: Callable[[argparse.Namespace], int],
    *,
    report: str | None = _REPORT_HELP,
) -> CommandParser:
    """A job with its example. ``report``: the help of its option ``--report``."""
    example = f"odradek pipeline {name} {_EXAMPLES[name]}".rstrip()
    parser = jobs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", example=example)
    parser.set_defaults(run_job=run_job, master="local[2]", conf=[], report=None, log_dir=None)
    if report is not None:
        parser.add_argument("--report", metavar="FILE", help=report)
    return parser


def _login_arguments(parser: CommandParser) -> None:
    """The options of the client and of Spark."""
    add_client_config(parser)
    parser.add_argument("--master", metavar="URL", help="Spark master, such as spark://HOST:PORT (default: local[2])")
    conf_help = "setting for Spark, such as spark.driver.host=HOST (repeatable)"
    parser.add_argument("--conf", action="append", metavar="NAME=VALUE", help=conf_help)


def _cluster_arguments(parser: CommandParser) -> None:
    parser.add_argument("--bootstrap-servers", required=True, metavar="HOST:PORT,...")
    _login_arguments(parser)


def _place_arguments(parser: CommandParser) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--log-dir", metavar="DIR", help="read a log directory of Kafka or odradek")
    where.add_argument("--bootstrap-servers", metavar="HOST:PORT,...", help="read a running cluster")
    _login_arguments(parser)
    parser.needs("--client-config", "--bootstrap-servers")


def _table_arguments(parser: CommandParser) -> None:
    _place_arguments(parser)
    form = parser.add_mutually_exclusive_group()
    output_help = "write the tables as parquet into this directory instead of printing them"
    form.add_argument("--output", metavar="DIR", help=output_help)
    form.add_argument("--rows", type=_count, default=50, help="rows to print of each table (default: 50)")


def _topics_argument(parser: CommandParser, what: str) -> None:
    parser.add_argument("--topic", action="append", help=f"topic to {what} (repeatable, default: all topics)")


def _retry_arguments(parser: CommandParser) -> None:
    _cluster_arguments(parser)
    parser.add_argument("--checkpoint", required=True, help="directory for the state of this pipeline alone")
    _policy_arguments(parser)
    jitter_help = "make each delay longer by up to this part of it, 0 to 1 (default: 0)"
    parser.add_argument("--jitter", type=float, default=0.0, metavar="PART", help=jitter_help)
    kafka_help = "option of the source or the sink, such as failOnDataLoss=false (repeatable)"
    parser.add_argument("--kafka", action="append", default=[], metavar="NAME=VALUE", help=kafka_help)


def _policy_arguments(parser: CommandParser) -> None:
    main_help = "topic to process (default: main_topic)"
    parser.add_argument("--main-topic", default="main_topic", metavar="NAME", help=main_help)
    failed_help = "topic for messages that fail after the last delay (default: failed_topic)"
    parser.add_argument("--failed-topic", default="failed_topic", metavar="NAME", help=failed_help)
    delays = ",".join(DEFAULT_DELAYS)
    parser.add_argument("--delays", default=delays, help=f"delay after each failure, in order (default: {delays})")
    name_help = "topic for a delay (default: retry_DELAY_topic)"
    parser.add_argument("--topic", action="append", default=[], metavar="DELAY=NAME", help=name_help)


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
    if not has_topic(place, topic):
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
    return verdict.exit_code


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
