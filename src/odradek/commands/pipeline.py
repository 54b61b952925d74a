"""`odradek pipeline JOB`: the Spark jobs over Kafka's logs, and their options."""

from __future__ import annotations

import argparse

from odradek.commands import CommandParser, add_client_config
from odradek.pipeline.jobs.retry_policy import DEFAULT_DELAYS

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
    retry = _add(jobs, "retry", "process a topic and retry failed messages after growing delays", report=page)
    _retry_job_arguments(retry)
    _retry_arguments(retry)
    again = _add(jobs, "replay-failed", "send the messages of the failed topic back to the main topic")
    _retry_arguments(again)
    messages = _add(jobs, "retries", "show the messages of a retry pipeline: attempts, time in retry")
    _table_arguments(messages)
    _policy_arguments(messages)
    text = "show groups of all types as tables, from __consumer_offsets and __share_group_state"
    _table_arguments(_add(jobs, "groups", text))
    text = "show __transaction_state and transaction markers as tables"
    of_transactions = _add(jobs, "transactions", text)
    _table_arguments(of_transactions)
    _topics_argument(of_transactions, "search for markers")
    text = "find gaps, duplicates and losses in a topic or a pair of topics; exit status 1 if there are any"
    checked = _add(jobs, "audit", text)
    _place_arguments(checked)
    checked.add_argument("topic")
    checked.add_argument("target", nargs="?", help="topic that should hold the results of the first topic's records")
    checked.add_argument("--by", help="how to identify a record: key or header:NAME")
    checked.add_argument("--output", metavar="DIR", help="also write all findings as parquet into this new directory")
    whole = _add(jobs, "report", "one HTML page with charts: topics, groups, transactions", report=None)
    whole.add_argument("report", metavar="file", help="an HTML file; one that is there is replaced")
    _place_arguments(whole)
    _topics_argument(whole, "show")
    archived = _add(jobs, "archive", "write topics to parquet")
    _place_arguments(archived)
    archived.add_argument("folder", help="directory to create")
    _topics_argument(archived, "archive")
    archived.add_argument("--uncommitted", action="store_true", help="include records of aborted and open transactions")
    replay = _add(jobs, "replay", "write an archive back to a cluster")
    replay.add_argument("folder", help="directory of the archive")
    _cluster_arguments(replay)
    replay.add_argument("--rename", action="append", default=[], metavar="OLD=NEW")
    text = "write a project of Spark's declarative pipelines that uses the jobs"
    _add(jobs, "init", text, report=None).add_argument("folder", help="directory to create")
    text = "download the jars of Spark's own Kafka connector into the cache; no job needs them"
    _add(jobs, "jars", text, report=None)


def run(arguments: argparse.Namespace) -> int:
    """Run the job. The jobs import Spark, so they are imported now."""
    from odradek.commands.pipeline_jobs import run_job

    return run_job(arguments)


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


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"a number from 1 on, not {text!r}")
    return int(text)


def _add(
    jobs: argparse._SubParsersAction[CommandParser],
    name: str,
    text: str,
    *,
    report: str | None = _REPORT_HELP,
) -> CommandParser:
    """A job with its example. ``report``: the help of its option ``--report``."""
    example = f"odradek pipeline {name} {_EXAMPLES[name]}".rstrip()
    parser = jobs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", example=example)
    parser.set_defaults(master="local[2]", conf=[], report=None, log_dir=None)
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
