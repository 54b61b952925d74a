"""Bugs are kept with what is needed to find their cause, and each of them once."""

from __future__ import annotations

import errno
import os
import struct

import pytest

from odradek.broker.requests.bugs import Bug, BugLog, UserCodeError
from odradek.broker.requests.recent_requests import RecentRequests
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.storage.backend import OUT_OF_DESCRIPTORS, StorageError
from tests.fakes.exchanges import raw_exchange


def failure(text: str) -> Exception:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


def test_a_bug_shows_traceback_and_last_requests() -> None:
    recent = RecentRequests()
    recent.entries.append(raw_exchange(ApiVersionsRequest(), 3, connection="c1", client_id="client"))
    log = BugLog(recent)
    log.report("ApiVersions v3", failure("no"), b"frame")
    (bug,) = log.bugs
    assert (bug.where, bug.frame, str(bug.error)) == ("ApiVersions v3", b"frame", "no")
    assert "ValueError: no" in str(bug)
    assert str(bug).endswith("last requests:\n  c1 ApiVersions v3 correlation 7 client 'client' (20 bytes)")


def test_the_same_traceback_is_kept_once_and_a_hundred_are_enough() -> None:
    told: list[Bug] = []
    log = BugLog(RecentRequests())
    log.on_bug = told.append
    error = failure("again")
    log.report("first", error)
    log.report("second", error)
    assert [bug.where for bug in told] == ["first"]
    for number in range(200):
        log.report("more", failure(str(number)))
    assert len(log.bugs) == len(told) == 100


def test_what_the_system_refuses_is_told_once_a_minute_and_is_no_bug(caplog: pytest.LogCaptureFixture) -> None:
    now_ms = 0
    log = BugLog(RecentRequests(), lambda: now_ms)
    out = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    log.report("Produce", out)
    log.report("t-0", StorageError(f"/data/t-0/1.log: {OUT_OF_DESCRIPTORS}"))
    log.report("t-1", StorageError("/data/t-1/1.log: No space left on device"))
    log.report("t-1", StorageError("/data/t-1/1.log: No space left on device"))
    now_ms = 60_000
    log.report("compaction of t-0", out)
    assert [record.message for record in caplog.records] == [
        f"Produce: {OUT_OF_DESCRIPTORS}",
        "t-1: /data/t-1/1.log: No space left on device",
        f"compaction of t-0: {OUT_OF_DESCRIPTORS}",
    ]
    assert not log.bugs
    log.report("Produce", OSError(errno.EINVAL, "a wrong call is one"))
    assert len(log.bugs) == 1


def test_a_bug_shows_the_last_twenty_requests() -> None:
    lines = tuple(f"request {number}" for number in range(22))
    shown = str(Bug("Fetch v4", ValueError("no"), "trace", b"", lines)).splitlines()
    assert [line.strip() for line in shown if "request " in line] == list(lines[2:])
    assert repr(Bug("Fetch v4", ValueError("no"), "trace", b"", ())) == "<Bug in Fetch v4: ValueError: no>"
    theirs = Bug("Fetch v4", UserCodeError("the condition"), "trace", b"", ())
    assert str(theirs).startswith("not a bug in the broker: the condition: Fetch v4")


SASL_AUTHENTICATE = struct.pack(">hhih", 36, 2, 7, 1) + b"c"


@pytest.mark.parametrize(
    ("frame", "kept"),
    [
        (SASL_AUTHENTICATE + b"\0\x09password", SASL_AUTHENTICATE + b"\0"),
        (struct.pack(">hhih", 36, 2, 7, 900) + b"password", struct.pack(">hhih", 36, 2, 7, 900)[:8]),
        (struct.pack(">hhih", 18, 3, 7, 1) + b"c\0body", struct.pack(">hhih", 18, 3, 7, 1) + b"c\0body"),
        (b"\0", b"\0"),
    ],
)
def test_a_bug_keeps_the_header_alone_of_what_may_hold_a_password(frame: bytes, kept: bytes) -> None:
    log = BugLog(RecentRequests())
    log.report("here", failure("no"), frame)
    assert log.bugs[0].frame == kept


def test_a_clock_that_goes_back_does_not_silence_what_the_system_refuses(caplog: pytest.LogCaptureFixture) -> None:
    times = iter((1000, 60_999, 61_000, 60_999, 60_999))
    log = BugLog(RecentRequests(), lambda: next(times))
    for told in (1, 1, 2, 3, 3):
        log.report("t-0", StorageError("no space"))
        assert len(caplog.records) == told
