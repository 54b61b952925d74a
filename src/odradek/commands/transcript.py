"""`odradek transcript`: look at requests that `broker.requests.save` wrote, or make a capture of them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odradek.commands import CommandError, CommandParser
from odradek.protocol.shown import one_line

if TYPE_CHECKING:
    from odradek.broker.transcript.recorded_request import RecordedRequest
    from odradek.broker.transcript.request_list import Requests

_CONDITIONS = ("topic", "partition", "group", "transactional_id", "client_id", "node", "error", "state", "since")
_PORT = 9092


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("file", help="transcript from broker.requests.save(...); - reads standard input")
    parser.add_argument("--api", help="show only requests of this API, such as Fetch")
    parser.add_argument("--topic", help="show only requests for this topic")
    parser.add_argument("--partition", type=int, help="show only requests for this partition of the topic")
    parser.add_argument("--group", help="show only requests for this group")
    parser.add_argument("--transactional-id", help="show only requests for this transactional id")
    parser.add_argument("--client-id", help="show only requests from this client")
    parser.add_argument("--node", type=int, help="show only requests to this node")
    parser.add_argument(
        "--error", help="show only requests answered with this error; `any` or `none` are also accepted"
    )
    parser.add_argument("--state", help="show only requests in this state: answered, waiting, unanswered or cut")
    parser.add_argument("--since", type=float, metavar="SECONDS", help="show only requests from this time on")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--messages", action="store_true", help="print the decoded messages below each line")
    form.add_argument("--json", action="store_true", help="print JSON lines")
    form.add_argument("--capture", type=Path, metavar="FILE", help="write a capture for Wireshark instead")
    parser.add_argument(
        "--capture-port",
        type=int,
        metavar="PORT",
        help=f"broker port in the capture (default {_PORT})",
    )
    parser.needs("--capture-port", "--capture")
    parser.needs("--partition", "--topic")


def run(arguments: argparse.Namespace) -> int:
    chosen = _chosen(_read(arguments.file), arguments)
    if arguments.capture is not None:
        try:
            chosen.save_capture(
                arguments.capture, port=_PORT if arguments.capture_port is None else arguments.capture_port
            )
        except OSError as error:
            raise CommandError(f"{arguments.capture}: {error.strerror}") from error
        print(f"{len(chosen)} requests in {arguments.capture}")
        return 0
    if not arguments.json and not arguments.messages:
        if chosen:
            print(chosen)
        else:
            print(f"{arguments.file}: no such request", file=sys.stderr)
        return 0
    from odradek.broker.transcript.json_lines import to_line

    for each in chosen:
        if arguments.json:
            print(one_line(to_line(each)))
        else:
            _print_messages(each)
    return 0


def _read(file: str) -> Requests:
    from odradek.broker.transcript.json_lines import TranscriptError
    from odradek.broker.transcript.request_list import load_transcript

    try:
        if file == "-":
            return load_transcript(sys.stdin)
        with open(file, encoding="utf-8") as lines:
            return load_transcript(lines)
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise CommandError(f"{file}: no text") from None
    except TranscriptError as error:
        raise CommandError(f"{file}: {error}") from error


def _chosen(requests: Requests, arguments: argparse.Namespace) -> Requests:
    conditions: dict[str, Any] = {
        name: value for name in _CONDITIONS if (value := getattr(arguments, name)) is not None
    }
    if conditions.get("error") in ("any", "none"):
        conditions["error"] = conditions["error"] == "any"
    try:
        return requests.filter(arguments.api, **conditions)
    except ValueError as error:
        raise CommandError(str(error)) from error


def _print_messages(recorded: RecordedRequest) -> None:
    from odradek.protocol.json_form import to_json

    print(recorded)
    for name, message in (("request", recorded.request), ("response", recorded.response)):
        if message is not None:
            shown = json.dumps(to_json(message, min(recorded.version, message.MAX_VERSION), record_sizes=True))
            print(f"  {name} {shown}")
