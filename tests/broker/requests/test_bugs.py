"""Bugs are kept with what is needed to find their cause, and each of them once."""

from __future__ import annotations

import errno
import os

import pytest

from odradek.broker.requests.bugs import Bug, BugLog
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
