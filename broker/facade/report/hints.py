"""Sentences that name a likely cause, most telling first. Each is a fact that was seen, not a guess."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from odradek.broker.facade.report.hints_of_broker import (
    acting_faults,
    clock_that_stands,
    deleted_records,
    no_leader,
    nodes_and_replicas,
    open_transactions,
    refused_logins,
)
from odradek.broker.facade.report.hints_of_clients import (
    automatic_topics,
    began_at_latest,
    missing_topics,
    refused_commits,
    refused_joins,
    refused_requests,
    sasl_on_a_plain_listener,
    timed_out_members,
)
from odradek.broker.facade.report.hints_of_protocols import unserved_versions, wrong_protocols
from odradek.broker.facade.report.situation import Situation

_HINTS: tuple[Callable[[Situation], Iterator[str]], ...] = (
    automatic_topics,
    missing_topics,
    began_at_latest,
    open_transactions,
    timed_out_members,
    clock_that_stands,
    acting_faults,
    no_leader,
    nodes_and_replicas,
    sasl_on_a_plain_listener,
    wrong_protocols,
    unserved_versions,
    refused_logins,
    refused_joins,
    refused_commits,
    deleted_records,
    refused_requests,
)


def hints_of(situation: Situation) -> list[str]:
    """What may explain that a test saw something else than it expected."""
    return list(dict.fromkeys(hint for hints in _HINTS for hint in hints(situation)))
