"""What becomes of delegation tokens as time goes by; Kafka's answers are in credential_conversations.json.gz."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
import trio
import trio.testing

from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.machine import MetadataState
from odradek.broker.controller.token_control import (
    MAX_REMOVED_AT_ONCE,
    NewToken,
    create_token,
    expire_token,
    remove_expired_tokens,
    renew_token,
    sweep_tokens,
)
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.remove_delegation_token_record import RemoveDelegationTokenRecord

ALICE, BOB, EVE = (Principal("User", name) for name in ("alice", "bob", "eve"))
CONFIG = {
    "delegation.token.secret.key": "key",
    "delegation.token.max.lifetime.ms": "1000",
    "delegation.token.expiry.time.ms": "100",
}


class Tokens:
    """Tokens in an image."""

    def __init__(self, **config: str) -> None:
        self._config = BrokerConfig({**CONFIG, **config})
        self._writer = ImageWriter()
        self._offset = 0

    def at(self, now_ms: int) -> MetadataState:
        state = MetadataState(self._writer.image, self._config, 1)
        state.now_ms = now_ms
        return state

    def take(self, records: list[object]) -> None:
        for record in records:
            self._writer.replay(record, self._offset, 1)  # type: ignore[arg-type]
            self._offset += 1

    @property
    def stored(self) -> dict[str, DelegationTokenRecord]:
        return dict(self._writer.image.delegation_tokens)


@pytest.fixture
def tokens() -> Tokens:
    return Tokens()


def create(tokens: Tokens, now_ms: int, life_ms: int = 0) -> bytes:
    records, made = create_token(tokens.at(now_ms), ALICE, EVE, [BOB], life_ms)
    tokens.take(list(records))
    return made.hmac


def only(tokens: Tokens) -> DelegationTokenRecord:
    (record,) = tokens.stored.values()
    return record


def test_a_token_expires_unless_it_is_renewed_and_ends_anyway(tokens: Tokens) -> None:
    secret = create(tokens, 5000)
    assert (only(tokens).issue_timestamp, only(tokens).expiration_timestamp, only(tokens).max_timestamp) == (
        5000,
        5100,
        6000,
    )
    assert (only(tokens).owner, only(tokens).requester, only(tokens).renewers) == (
        "User:alice",
        "User:eve",
        ["User:bob"],
    )
    for now_ms, period_ms, expires_ms in (
        (5050, -1, 5150),
        (5100, 10_000, 5200),
        (5200, 50, 5250),
        (5249, 1, 5250),
        (5250, 0, 5350),
    ):
        records, reply = renew_token(tokens.at(now_ms), secret, BOB, period_ms)
        tokens.take(list(records))
        assert reply == only(tokens).expiration_timestamp == expires_ms
    for now_ms in range(5350, 6000, 50):
        tokens.take(list(renew_token(tokens.at(now_ms), secret, ALICE, -1)[0]))
    assert only(tokens).expiration_timestamp == 6000
    with pytest.raises(KafkaError) as error:
        renew_token(tokens.at(6001), secret, ALICE, -1)
    assert error.value.code == ErrorCode.DELEGATION_TOKEN_EXPIRED


def test_a_short_life_is_shorter_than_the_time_to_renew(tokens: Tokens) -> None:
    create(tokens, 5000, life_ms=30)
    assert (only(tokens).expiration_timestamp, only(tokens).max_timestamp) == (5030, 5030)


def test_delegation_token_is_renewed_by_owner_and_renewers_only(tokens: Tokens) -> None:
    secret = create(tokens, 5000)
    for rule, period_ms in ((renew_token, 10), (expire_token, 10), (expire_token, -1)):
        with pytest.raises(KafkaError) as error:
            rule(tokens.at(5001), secret, EVE, period_ms)
        assert error.value.code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH


def test_expire_token_shortens_a_life_and_ends_with_the_longest(tokens: Tokens) -> None:
    secret = create(tokens, 5000)
    for now_ms, period_ms, expires_ms in ((5010, 30, 5040), (5040, 0, 5040), (5040, 10_000, 6000)):
        records, reply = expire_token(tokens.at(now_ms), secret, BOB, period_ms)
        tokens.take(list(records))
        assert reply == only(tokens).expiration_timestamp == expires_ms
    tokens.take(list(expire_token(tokens.at(5050), secret, ALICE, 10)[0]))
    for now_ms, code in ((5060, None), (5061, ErrorCode.DELEGATION_TOKEN_EXPIRED)):
        with nullcontext() if code is None else pytest.raises(KafkaError, match=code.name):
            expire_token(tokens.at(now_ms), secret, ALICE, 0)


def test_a_token_that_nobody_made_is_not_found(tokens: Tokens) -> None:
    secret = create(tokens, 5000)
    create(tokens, 5001)
    assert renew_token(tokens.at(5001), secret, ALICE, -1)[1] == 5101
    for rule in (renew_token, expire_token):
        with pytest.raises(KafkaError) as error:
            rule(tokens.at(5001), b"x" * 64, ALICE, -1)
        assert error.value.code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND


def test_a_renewer_is_a_user(tokens: Tokens) -> None:
    for renewers in ([BOB, Principal("Group", "staff")], [Principal("Group", "staff")]):
        with pytest.raises(KafkaError) as error:
            create_token(tokens.at(5000), ALICE, ALICE, renewers, 0)
        assert error.value.code == ErrorCode.INVALID_PRINCIPAL_TYPE


@pytest.mark.parametrize(("level", "refused"), [(13, True), (14, False)])
def test_tokens_need_metadata_version_3_6_iv2(tokens: Tokens, level: int, refused: bool) -> None:
    tokens.take([FeatureLevelRecord("metadata.version", level)])
    if refused:
        with pytest.raises(KafkaError) as error:
            create(tokens, 5000)
        assert error.value.code == ErrorCode.UNSUPPORTED_VERSION
    else:
        assert create(tokens, 5000)


def test_an_expired_token_can_still_be_ended(tokens: Tokens) -> None:
    secret = create(tokens, 5000)
    records, reply = expire_token(tokens.at(9000), secret, ALICE, -1)
    assert reply == 9000
    assert isinstance(records[0], RemoveDelegationTokenRecord)
    tokens.take(list(records))
    assert tokens.stored == {}


def test_a_sweep_takes_what_has_expired_a_thousand_at_once(tokens: Tokens) -> None:
    for number in range(MAX_REMOVED_AT_ONCE + 5):
        create(tokens, 5000 + (number % 2))
    create(tokens, 8000)
    assert sweep_tokens(tokens.at(5100)) == ([], False)
    records, more = sweep_tokens(tokens.at(7000))
    assert (len(records), more) == (MAX_REMOVED_AT_ONCE, True)
    tokens.take(list(records))
    records, more = sweep_tokens(tokens.at(7000))
    assert (len(records), more) == (5, False)
    tokens.take(list(records))
    assert only(tokens).issue_timestamp == 8000


def test_delegation_token_lifetimes_do_not_overflow() -> None:
    tokens = Tokens(**{"delegation.token.max.lifetime.ms": str(2**63 - 1)})
    create(tokens, 5000, life_ms=2**63 - 1)
    assert only(tokens).max_timestamp == 2**63 - 1


@pytest.mark.parametrize("key", [None, ""])
def test_delegation_token_commands_are_refused_without_a_key(key: str | None) -> None:
    config = dict(CONFIG)
    del config["delegation.token.secret.key"]
    if key is not None:
        config["delegation.token.secret.key"] = key
    state = MetadataState(ImageWriter().image, BrokerConfig(config), 1)
    for ask in (
        lambda: create_token(state, ALICE, ALICE, [], 0),
        lambda: renew_token(state, b"x", ALICE, 0),
        lambda: expire_token(state, b"x", ALICE, 0),
    ):
        with pytest.raises(KafkaError) as error:
            ask()
        assert error.value.code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


def test_a_new_token_does_not_show_its_secret() -> None:
    assert repr(NewToken("token-1", b"secret", 1, 2, 3)) == "NewToken(token-1)"


# -- Expired tokens go on the broker's clock.


class Swept:
    """A controller that has so many thousands of expired tokens, and fails at first."""

    def __init__(self, thousands: int) -> None:
        self.asked = 0
        self._left = thousands

    def ask(self, rule: object) -> bool:
        self.asked += 1
        if self.asked == 1:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        self._left -= 1
        return self._left > 0


def test_all_of_them_go_at_each_interval() -> None:
    trio.run(_intervals)


async def _intervals() -> None:
    clock = BrokerClock()
    clock.attach()
    clock.freeze()
    controller: Any = Swept(3)
    config = BrokerConfig({"delegation.token.expiry.check.interval.ms": "60000"})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(remove_expired_tokens, controller, config, clock)
        for seconds, asked in ((59, 0), (1, 1), (60, 4), (60, 5)):
            await trio.testing.wait_all_tasks_blocked()
            clock.advance(seconds)
            await trio.testing.wait_all_tasks_blocked()
            assert controller.asked == asked
        nursery.cancel_scope.cancel()
