"""What a request must not say: it would end a broker, change it for all other conversations, or leave it to timing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conformance.duel.pairing import Form

SHORT_SESSION_MS = 600
"""A member with it times out in the rest that follows."""
SHORT_SESSIONS = {
    f"group.{kind}.min.{what}.ms": "100"
    for kind in ("consumer", "share", "streams")
    for what in ("session.timeout", "heartbeat.interval")
}
"""Configs that allow them."""
_LONG_MS = 60_000
_CHANGES_ALL = frozenset({"UpdateFeatures"})
_READS = ("Describe", "List", "Metadata", "Fetch", "OffsetFetch", "FindCoordinator", "OffsetForLeader", "ApiVersions")


def _known_node(value: int) -> int:
    return 97 if value in (0, 1, 2, 3) else value


def _timeout(value: int) -> int:
    return value if value <= 0 or value >= _LONG_MS else _LONG_MS


def _session_timeout(value: int) -> int:
    return value if value < 100 or value >= 30_000 or value == SHORT_SESSION_MS else 30_000


_OWN = frozenset({"transactionalId", "groupId", "groups", "groupIds", "groupsNames"})
_TAME: dict[str, Callable[[Any], Any]] = {
    "brokerId": _known_node,
    "controllerId": _known_node,
    "voterId": _known_node,
    # Kafka's controller resigns over an operation that it does not know.
    "configOperation": lambda value: value if 0 <= value <= 3 else 0,
    "maxWaitMs": lambda value: min(value, 300),
    "transactionTimeoutMs": _timeout,
    "rebalanceTimeoutMs": _timeout,
    "sessionTimeoutMs": _session_timeout,
    "numPartitions": lambda value: 4 if 4 < value < 100_000 else value,
    "count": lambda value: 4 if 4 < value < 100_000 else value,
    "iterations": lambda value: 16_000 if value > 16_000 else value,
    "timeoutMs": lambda value: 5000 if 0 < value < 5000 else value,
    "maxLifetimeMs": lambda value: 3_600_000 if 0 < value < 3_600_000 else value,
    "renewPeriodMs": lambda value: 3_600_000 if 0 < value < 3_600_000 else value,
    "expiryTimePeriodMs": lambda value: 3_600_000 if 0 < value < 3_600_000 else value,
}


def tamed(api: str, form: Form) -> Form:
    """The request without that."""
    reads = api.startswith(_READS) or api.endswith("Describe")
    made: Form = _tamed(form, reads)
    if api == "AddRaftVoter":  # a listener without a name ends a Kafka
        made["listeners"] = [each for each in made["listeners"] if each["name"]]
    if api in _CHANGES_ALL or _is_for_all(api, made):
        if "validateOnly" in made:
            made["validateOnly"] = True
        else:
            made["featureUpdates"] = []
    return made


def _tamed(form: Any, reads: bool, name: str = "") -> Any:
    if isinstance(form, dict):
        return {key: _tamed(value, reads, key) for key, value in form.items()}
    if isinstance(form, list):
        return [_tamed(value, reads, name) for value in form]
    if name in _TAME and isinstance(form, int):
        return _TAME[name](form)
    if isinstance(form, str) and form.startswith("__") and not reads:
        return "nope"
    if name in _OWN and isinstance(form, str) and form and "${" not in form:
        return f"{form} ${{run}}"  # else other conversations have it, too
    return form


def _is_for_all(api: str, form: Form) -> bool:
    """Whether it changes a broker, its loggers, or quotas of others."""
    if api in ("AlterConfigs", "IncrementalAlterConfigs"):
        return any(each["resourceType"] in (4, 8) for each in form["resources"])
    if api == "AlterClientQuotas":
        named = [part["entityName"] for each in form["entries"] for part in each["entity"]]
        return not named or not all(name and "${run}" in name for name in named)
    return False
