"""`odradek serve --strict`: what clients rely on, in the log."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from odradek.broker.facade.report.strictness import AT_END, Strictness, StrictnessFinding, findings_since
from odradek.broker.facade.thread_bridge import BrokerClosedError, Call, HandOver

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

_LOOK_EVERY_S = 2.0  # of real time: a clock that stands keeps nothing from the log
_log = logging.getLogger("odradek.strict")

Serving = Callable[["Cluster"], AbstractContextManager[str]]


def logging_strictness(serving: Serving, strict: str) -> Serving:
    """The same, with warnings in the log: each once. ValueError for a rule that does not exist."""
    chosen = Strictness.of(strict)

    @contextmanager
    def both(cluster: Cluster) -> Iterator[str]:
        log = _Log(cluster, chosen or Strictness(fails=False))
        ended = threading.Event()
        threading.Thread(target=log.watch, args=(HandOver(), ended), name="odradek strict", daemon=True).start()
        try:
            with serving(cluster) as url:
                yield url
        finally:
            ended.set()
            log.tell(lambda function: function(), at_end=True)

    return both


class _Log:
    """The findings that were logged already."""

    def __init__(self, cluster: Cluster, strict: Strictness) -> None:
        self._cluster = cluster
        self._strict = strict
        self._told: set[StrictnessFinding] = set()
        self._lock = threading.Lock()

    def watch(self, look: Call, ended: threading.Event) -> None:
        """Look again and again, in a thread of its own: to read the requests would keep the broker from its work."""
        seen: object = None
        while not ended.wait(_LOOK_EVERY_S):
            entries = self._cluster.recent.entries.copy()
            if entries and entries[-1] is not seen:
                seen = entries[-1]
                try:
                    self.tell(look, at_end=False)
                except BrokerClosedError:
                    return

    def tell(self, look: Call, *, at_end: bool) -> None:
        """Log new findings. Findings that a client may still mend are logged at the end only."""
        findings = findings_since(self._cluster, look, also=self._strict.also)
        with self._lock:
            for each in findings:
                if (
                    each.rule not in self._strict.ignored
                    and each not in self._told
                    and (at_end or each.rule not in AT_END)
                ):
                    self._told.add(each)
                    _log.warning("%s", each)
