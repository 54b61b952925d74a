"""The rules for topic names, and the names of Kafka's internal topics."""

from __future__ import annotations

import re
from typing import Protocol

from odradek.protocol.errors import ErrorCode, KafkaError

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
CLUSTER_METADATA = "__cluster_metadata"
"""The topic of the controllers, which no client can create."""
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})

MAX_NAME_LENGTH = 249
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+\Z")


class Wording(Protocol):
    """How a release of Kafka says what it refuses: see `Release.text`."""

    def __call__(self, refusal: str, default: str, /, **values: object) -> str:
        """The text for this refusal; `default` where the release has no other."""


def _as_ever(refusal: str, default: str, /, **values: object) -> str:
    return default


def check_topic_name(name: str, wording: Wording = _as_ever) -> None:
    """INVALID_TOPIC_EXCEPTION if `name` cannot name a topic."""
    if name == "":
        refusal, problem = "empty name", "the empty string is not allowed"
    elif name in (".", ".."):
        refusal, problem = "name of dots", f"'{name}' is not allowed"
    elif len(name) > MAX_NAME_LENGTH:
        refusal = "long name"
        problem = f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    elif not _LEGAL_NAME.match(name):
        refusal = "characters of a name"
        problem = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    else:
        return
    text = wording(refusal, f"Topic name is invalid: {problem}", name=name)
    raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, text)


def is_topic_name(name: str) -> bool:
    """Whether clients can create a topic of that name, or brokers for themselves."""
    try:
        check_topic_name(name)
    except KafkaError:
        return False
    return name != CLUSTER_METADATA


def collision_key(name: str) -> str | None:
    """The form that names share which metrics cannot distinguish (`a.b` and `a_b`); None for a name without either."""
    return name.replace(".", "_") if "." in name or "_" in name else None
