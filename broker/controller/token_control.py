"""Delegation tokens (KIP-48, KIP-373): who may make, renew and end which, and how long they live.

What the log says of a token is no secret: its password is an HMAC of its id that every broker with the same
`delegation.token.secret.key` computes. Codes are those of Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from hmac import compare_digest
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.controller.feature_levels import TOKENS_SINCE
from odradek.broker.controller.machine import Decision, MetadataState
from odradek.broker.metadata.image import METADATA_VERSION
from odradek.broker.security.principal import USER, Principal
from odradek.broker.security.sasl.credentials import token_hmac
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord
from odradek.protocol.generated.metadata_records.remove_delegation_token_record import RemoveDelegationTokenRecord
from odradek.protocol.uuids import new_uuid_text

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller

MAX_REMOVED_AT_ONCE = 1000
_LONGEST_MS = 2**63 - 1


class NewToken(NamedTuple):
    """A token that was made. Times in milliseconds since 1970."""

    token_id: str
    hmac: bytes
    issued_ms: int
    expires_ms: int
    ends_ms: int

    def __repr__(self) -> str:
        return f"NewToken({self.token_id})"


def create_token(
    state: MetadataState, owner: Principal, requester: Principal, renewers: Sequence[Principal], max_lifetime_ms: int
) -> Decision[NewToken]:
    """Make a delegation token for `owner`; DELEGATION_TOKEN_AUTH_DISABLED, INVALID_PRINCIPAL_TYPE.

    `max_lifetime_ms`: 0 and less take the broker's. UNSUPPORTED_VERSION before `metadata.version` 3.6-IV2.
    """
    key = _key(state)
    if 0 < state.image.feature(METADATA_VERSION) < TOKENS_SINCE:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    life_ms = state.config.get_int("delegation.token.max.lifetime.ms")
    if max_lifetime_ms > 0:
        life_ms = min(life_ms, max_lifetime_ms)
    ends_ms = _after(state, life_ms)
    expires_ms = min(ends_ms, _after(state, state.config.get_int("delegation.token.expiry.time.ms")))
    if any(renewer.kind != USER for renewer in renewers):
        raise KafkaError(ErrorCode.INVALID_PRINCIPAL_TYPE)
    record = DelegationTokenRecord(
        str(owner),
        str(requester),
        [str(renewer) for renewer in renewers],
        state.now_ms,
        ends_ms,
        expires_ms,
        new_uuid_text(),
    )
    return [record], NewToken(record.token_id, token_hmac(key, record.token_id), state.now_ms, expires_ms, ends_ms)


def renew_token(state: MetadataState, secret: bytes, principal: Principal, period_ms: int) -> Decision[int]:
    """Let the token of an HMAC live longer, as its owner or a renewer; replies when it expires."""
    record = _found(state, secret)
    _check_alive(state, record)
    _check_may_renew(record, principal)
    life_ms = state.config.get_int("delegation.token.expiry.time.ms")
    if period_ms > 0:
        life_ms = min(life_ms, period_ms)
    expires_ms = min(record.max_timestamp, _after(state, life_ms))
    return [_expiring(record, expires_ms)], expires_ms


def expire_token(state: MetadataState, secret: bytes, principal: Principal, period_ms: int) -> Decision[int]:
    """Let it expire in `period_ms`, or end at once (less than 0); replies when."""
    record = _found(state, secret)
    _check_may_renew(record, principal)
    if period_ms < 0:
        return [RemoveDelegationTokenRecord(record.token_id)], state.now_ms
    _check_alive(state, record)
    expires_ms = min(record.max_timestamp, _after(state, period_ms))
    return [_expiring(record, expires_ms)], expires_ms


def sweep_tokens(state: MetadataState) -> Decision[bool]:
    """Remove tokens that have expired, a thousand at once; replies whether there may be more."""
    expired = [record.token_id for record in state.image.delegation_tokens.values() if _is_over(state, record)]
    now = expired[:MAX_REMOVED_AT_ONCE]
    return [RemoveDelegationTokenRecord(token_id) for token_id in now], len(now) < len(expired)


def _key(state: MetadataState) -> str:
    key = state.config.get("delegation.token.secret.key")
    if not isinstance(key, str) or not key:
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    return key


def _found(state: MetadataState, secret: bytes) -> DelegationTokenRecord:
    """The token of an HMAC; DELEGATION_TOKEN_NOT_FOUND if there is none."""
    key = _key(state)
    for record in state.image.delegation_tokens.values():
        if compare_digest(token_hmac(key, record.token_id), secret):
            return record
    raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)


def _is_over(state: MetadataState, record: DelegationTokenRecord) -> bool:
    return record.max_timestamp < state.now_ms or record.expiration_timestamp < state.now_ms


def _check_alive(state: MetadataState, record: DelegationTokenRecord) -> None:
    if _is_over(state, record):
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_EXPIRED)


def _after(state: MetadataState, ms: int) -> int:
    return min(_LONGEST_MS, state.now_ms + ms)


def _check_may_renew(record: DelegationTokenRecord, principal: Principal) -> None:
    text = str(principal)
    if text != record.owner and text not in record.renewers:
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)


def _expiring(record: DelegationTokenRecord, expires_ms: int) -> DelegationTokenRecord:
    return DelegationTokenRecord(
        record.owner,
        record.requester,
        list(record.renewers),
        record.issue_timestamp,
        record.max_timestamp,
        expires_ms,
        record.token_id,
    )


async def remove_expired_tokens(controller: Controller, config: BrokerConfig, clock: BrokerClock) -> None:
    """Remove them each `delegation.token.expiry.check.interval.ms` on the broker's clock, until cancelled.

    A metadata log that takes nothing is tried again the next time.
    """
    while True:
        await clock.sleep(config.get_int("delegation.token.expiry.check.interval.ms") / 1000)
        try:
            while controller.ask(sweep_tokens):
                await clock.sleep(0)
        except KafkaError:
            continue
