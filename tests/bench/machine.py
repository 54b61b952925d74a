"""What a figure was measured on: the machine by its cores and CPU alone, and what else it did meanwhile."""

from __future__ import annotations

import os
import re
import resource
import time
from pathlib import Path

from tests.bench.brokers import TICKS

BUSY = 0.1
"""Share of the machine that other work may take before rates say little."""


def cpu_model(cpuinfo: str) -> str:
    """The model's name in the text of /proc/cpuinfo."""
    found = re.search(r"^model name\s*: (.+)$", cpuinfo, re.MULTILINE)
    return found[1].strip() if found else "unknown CPU"


def machine() -> str:
    """For example ``2 cores, Intel Xeon``."""
    return f"{os.cpu_count()} cores, {cpu_model(Path('/proc/cpuinfo').read_text())}"


def is_real_time() -> bool:
    """Whether this process, and so its children, run before all usual ones (`chrt -r 10`)."""
    return os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)


def busy_seconds(stat: str) -> float:
    """CPU time of all processes, and time stolen by other machines, in the text of /proc/stat."""
    user, nice, system, _, _, irq, softirq, steal = (int(ticks) for ticks in stat.splitlines()[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def own_seconds() -> float:
    """CPU time of this process and of the children that have ended and been waited for."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class OtherWork:
    """How much of the machine went elsewhere, from the making of this on; ask when all children have ended."""

    def __init__(self) -> None:
        self._began, self._busy, self._own = self._now()
        self.load_before = os.getloadavg()[0]

    def _now(self) -> tuple[float, float, float]:
        return time.monotonic(), busy_seconds(Path("/proc/stat").read_text()), own_seconds()

    def share(self) -> float:
        """Of all cores, 0 to 1."""
        now, busy, own = self._now()
        other = (busy - self._busy) - (own - self._own)
        return max(0.0, other / ((now - self._began) * (os.cpu_count() or 1)))
