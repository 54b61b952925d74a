"""Delegation tokens (KIP-48, KIP-373): who may make, renew and end which, and how long they live.

What the log says of a token is no secret: its password is an HMAC of its id that every broker with the same
`delegation.token.secret.key` computes. Codes are those of Kafka 4.4.0.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING

from odradek.broker.controller.commands import CreateToken, ExpireToken, NewToken, RenewToken
from odradek.broker.controller.feature_levels import TOKENS_SINCE
from odradek.broker.metadata.image import METADATA_VERSION
from odradek.broker.security.principal import USER, Principal
from odradek.broker.security.sasl.credentials import token_hmac
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord
from odradek.protocol.generated.metadata_records.remove_delegation_token_record import RemoveDelegationTokenRecord
from odradek.protocol.uuids import new_uuid_text

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.metadata.image import MetadataImage
    from odradek.protocol.message import MetadataRecord

MAX_REMOVED_AT_ONCE = 1000
_LONGEST_MS = 2**63 - 1


class TokenControl:
    """Decides about delegation tokens at `now_ms`. Reads the image; changes nothing."""

    def __init__(self, image: MetadataImage, config: BrokerConfig, now_ms: int) -> None:
        self._image = image
        self._config = config
        self._now_ms = now_ms

    def create(self, command: CreateToken) -> tuple[list[MetadataRecord], NewToken]:
        """Records and reply of `CreateToken`; DELEGATION_TOKEN_AUTH_DISABLED, INVALID_PRINCIPAL_TYPE.

        UNSUPPORTED_VERSION before `metadata.version` 3.6-IV2.
        """
        key = self._key()
        if 0 < self._image.feature(METADATA_VERSION) < TOKENS_SINCE:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
        life_ms = self._config.get_int("delegation.token.max.lifetime.ms")
        if command.max_lifetime_ms > 0:
            life_ms = min(life_ms, command.max_lifetime_ms)
        ends_ms = self._after(life_ms)
        expires_ms = min(ends_ms, self._after(self._config.get_int("delegation.token.expiry.time.ms")))
        if any(renewer.kind != USER for renewer in command.renewers):
            raise KafkaError(ErrorCode.INVALID_PRINCIPAL_TYPE)
        record = DelegationTokenRecord(
            str(command.owner),
            str(command.requester),
            [str(renewer) for renewer in command.renewers],
            self._now_ms,
            ends_ms,
            expires_ms,
            new_uuid_text(),
        )
        return [record], NewToken(record.token_id, token_hmac(key, record.token_id), self._now_ms, expires_ms, ends_ms)

    def renew(self, command: RenewToken) -> tuple[list[MetadataRecord], int]:
        """Records and reply of `RenewToken`."""
        record = self._found(command.hmac)
        self._check_alive(record)
        _check_may_renew(record, command.principal)
        life_ms = self._config.get_int("delegation.token.expiry.time.ms")
        if command.period_ms > 0:
            life_ms = min(life_ms, command.period_ms)
        expires_ms = min(record.max_timestamp, self._after(life_ms))
        return [_expiring(record, expires_ms)], expires_ms

    def expire(self, command: ExpireToken) -> tuple[list[MetadataRecord], int]:
        """Records and reply of `ExpireToken`: a negative period ends the token now."""
        record = self._found(command.hmac)
        _check_may_renew(record, command.principal)
        if command.period_ms < 0:
            return [RemoveDelegationTokenRecord(record.token_id)], self._now_ms
        self._check_alive(record)
        expires_ms = min(record.max_timestamp, self._after(command.period_ms))
        return [_expiring(record, expires_ms)], expires_ms

    def sweep(self) -> tuple[list[MetadataRecord], bool]:
        """Removes tokens that have expired, a thousand at once; replies whether there may be more."""
        expired = [record.token_id for record in self._image.delegation_tokens.values() if self._is_over(record)]
        now = expired[:MAX_REMOVED_AT_ONCE]
        return [RemoveDelegationTokenRecord(token_id) for token_id in now], len(now) < len(expired)

    def _key(self) -> str:
        key = self._config.get("delegation.token.secret.key")
        if not isinstance(key, str) or not key:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
        return key

    def _found(self, secret: bytes) -> DelegationTokenRecord:
        """The token of an HMAC; DELEGATION_TOKEN_NOT_FOUND if there is none."""
        key = self._key()
        for record in self._image.delegation_tokens.values():
            if compare_digest(token_hmac(key, record.token_id), secret):
                return record
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)

    def _is_over(self, record: DelegationTokenRecord) -> bool:
        return record.max_timestamp < self._now_ms or record.expiration_timestamp < self._now_ms

    def _check_alive(self, record: DelegationTokenRecord) -> None:
        if self._is_over(record):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_EXPIRED)

    def _after(self, ms: int) -> int:
        return min(_LONGEST_MS, self._now_ms + ms)


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
