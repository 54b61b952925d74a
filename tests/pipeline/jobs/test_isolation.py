"""Calls in a child process: results, ends and hangs."""

from __future__ import annotations

import multiprocessing
import os
import threading

import pytest

from odradek.pipeline.jobs.isolation import Isolated, ProcessEnded

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system that forks")


def test_calls_share_a_process_that_ends_with_the_block() -> None:
    with Isolated(lambda number: (number + 1, os.getpid())) as call:
        (first, process), (second, again) = call(1), call(2)
        assert (first, second) == (2, 3)
        assert process == again != os.getpid()
        (child,) = multiprocessing.active_children()
        assert child.pid == process
    assert multiprocessing.active_children() == []


def test_an_exception_ends_the_process_and_the_next_call_has_another() -> None:
    def work(number: int) -> int:
        if number == 1:
            raise SystemExit(7)
        return os.getpid()

    with Isolated(work) as call:
        process = call(0)
        with pytest.raises(ProcessEnded, match="ended with status 7"):
            call(1)
        assert call(0) != process


def test_a_call_that_hangs_is_ended() -> None:
    hang = Isolated(lambda _: threading.Event().wait(), timeout_s=0.2)
    with hang, pytest.raises(ProcessEnded, match=r"took longer than 0\.2 s"):
        hang(None)
    with Isolated(lambda _: "done", timeout_s=60) as call:
        assert call(None) == "done"
    assert multiprocessing.active_children() == []
