"""Requests about SCRAM users and delegation tokens, written down so that two brokers can be compared.

The form is that of `login_conversations`. Times are written as their distance from the creation of the token, ids as
numbers in the order in which they came; of an HMAC it is written whether it is the right one. The transcripts of a real
Kafka 4.4.0 lie in ``tests/vectors/credential_conversations.json.gz``.
"""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Callable, Sequence
from typing import Any

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.create_delegation_token import CreatableRenewers, CreateDelegationTokenRequest
from odradek.protocol.generated.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from odradek.protocol.generated.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from odradek.protocol.generated.messages.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.scenarios.login_conversation import Login, Ports, Transcript
from tests.scenarios.sasl_broker import SECRET_KEY
from tests.scenarios.scram_client import ScramClient, salted_password
from tests.scenarios.transcripts import conversations, held

HOUR_MS = 3_600_000
_WAIT_S = 0.4
_ATTEMPTS = 50
_NEAR_MS = 60_000
LONG = 2**63 - 1


class Talk(Login):
    """Clients that log in and ask about credentials."""

    def __init__(self, ports: Ports, wait: Callable[[float], object] = time.sleep) -> None:
        super().__init__(ports, wait)
        self._clients: dict[str, Login] = {}
        self.tokens: list[Any] = []

    def close(self) -> None:
        super().close()
        for client in self._clients.values():
            client.close()

    def of(self, who: str) -> Login:
        """The connection of a user who has logged in by PLAIN; "nobody" has not and uses the plain listener."""
        client = self._clients.get(who)
        if client is None:
            client = self._clients[who] = Login(self._ports, self.wait)
            if who == "nobody":
                client.opens("PLAINTEXT")
            else:
                client.logs_in(who)
        return client

    def with_known_token(self, token: Any, listener: str) -> Login:
        """The same, as soon as the broker knows the token: a Kafka learns of it a moment after its answer."""
        for _ in range(_ATTEMPTS):
            before = len(self.transcript)
            client = self.with_token(token, listener)
            if all(not step.get("errorCode") for step in self.transcript[before][1]):
                break
            del self.transcript[before:]
            self.wait(_WAIT_S)
        return client

    def with_token(self, token: Any, listener: str = "SASL", mechanism: str = "SCRAM-SHA-256", key: str = "") -> Login:
        """A connection that has logged in with a token; how that went is written down."""
        client = Login(self._ports, self.wait)
        client.begins_scram(mechanism, listener)
        password = key or base64.b64encode(bytes(token.hmac)).decode()
        scram = ScramClient(token.token_id, password, mechanism, extensions=",tokenauth=true")
        client.scram(scram)
        told = [step[1] for step in client.transcript if step[0].startswith("SaslAuthenticate") and len(step) > 1]
        for step in told:
            if isinstance(step, dict) and step.get("sessionLifetimeMs"):
                step["sessionLifetimeMs"] = _near(step["sessionLifetimeMs"])
        self.transcript.append([f"logs in with token {self._number(token.token_id)} by {mechanism}", told])
        self._clients[f"token {len(self._clients)}"] = client
        return client

    def served(self, client: Login, request: Any, version: int, what: str) -> Any:
        """Ask and return the answer; None if the connection is closed."""
        client.transcript.clear()
        answer = client.asks(request, version)
        if answer is None:
            self.transcript.append([what, "closed"])
            self._clients = {name: other for name, other in self._clients.items() if other is not client}
            client.hang_up()
        return answer

    # -- users

    def alters(self, *rows: Any, what: str = "") -> None:
        """AlterUserScramCredentials with deletions and upsertions."""
        deletions = [row for row in rows if isinstance(row, ScramCredentialDeletion)]
        upsertions = [row for row in rows if isinstance(row, ScramCredentialUpsertion)]
        request = AlterUserScramCredentialsRequest(deletions, upsertions)
        answer = self.served(self.of("nobody"), request, 0, f"alters {what}")
        if answer is not None:
            told = [[row.user, ErrorCode(row.error_code).name, row.error_message] for row in answer.results]
            self.transcript.append([f"alters {what}", told])

    def describes(self, *names: str, everybody: bool = False) -> None:
        """DescribeUserScramCredentials, when the changes before it are known."""
        self.wait(_WAIT_S)
        request = DescribeUserScramCredentialsRequest(None if everybody else [UserName(name) for name in names])
        answer = self.served(self.of("nobody"), request, 0, "describes")
        if answer is not None:
            told = [
                [
                    row.user,
                    ErrorCode(row.error_code).name,
                    row.error_message,
                    sorted([info.mechanism, info.iterations] for info in row.credential_infos),
                ]
                for row in answer.results
            ]
            self.transcript.append(["describes", ErrorCode(answer.error_code).name, answer.error_message, told])

    # -- tokens

    def _number(self, token_id: str) -> str:
        known = [token.token_id for token in self.tokens]
        return str(known.index(token_id)) if token_id in known else repr(token_id)

    def creates(
        self,
        client: Login,
        renewers: Sequence[tuple[str, str]] = (),
        *,
        owner: tuple[str | None, str | None] = ("", ""),
        life_ms: int = -1,
        version: int = 3,
        what: str = "",
    ) -> Any:
        """CreateDelegationToken; the answer, None if the connection is closed."""
        rows = [CreatableRenewers(*renewer) for renewer in renewers]
        request = CreateDelegationTokenRequest(*owner, renewers=rows, max_lifetime_ms=life_ms)
        answer = self.served(client, request, version, f"creates {what}")
        if answer is None:
            return None
        if answer.error_code == 0:
            self.tokens.append(answer)
            self.wait(_WAIT_S)
        told = {
            "error": ErrorCode(answer.error_code).name,
            "owner": [answer.principal_type, answer.principal_name],
            "requester": [answer.token_requester_principal_type, answer.token_requester_principal_name],
            **_times(answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms),
            "id": self._number(answer.token_id),
            "hmac": self._is_right(answer),
        }
        self.transcript.append([f"creates {what} v{version}", told])
        return answer

    def _is_right(self, token: Any) -> str:
        if not token.hmac:
            return "none"
        right = hmac.digest(SECRET_KEY.encode(), token.token_id.encode(), "sha512") == bytes(token.hmac)
        return "right" if right else "wrong"

    def shows(
        self, client: Login, owners: Sequence[tuple[str, str]] | None, *, version: int = 3, what: str = ""
    ) -> list[Any]:
        """DescribeDelegationToken, when the changes before it are known; the tokens in the answer."""
        self.wait(_WAIT_S)
        rows = None if owners is None else [DescribeDelegationTokenOwner(*owner) for owner in owners]
        answer = self.served(client, DescribeDelegationTokenRequest(rows), version, f"shows {what}")
        if answer is None:
            return []
        told = [
            {
                "id": self._number(token.token_id),
                "owner": [token.principal_type, token.principal_name],
                "requester": [token.token_requester_principal_type, token.token_requester_principal_name],
                "renewers": [[renewer.principal_type, renewer.principal_name] for renewer in token.renewers],
                **_times(token.issue_timestamp, token.expiry_timestamp, token.max_timestamp),
                "hmac": self._is_right(token),
            }
            for token in answer.tokens
            if self._number(token.token_id).isdecimal()
        ]
        told.sort(key=lambda row: str(row["id"]))
        self.transcript.append([f"shows {what} v{version}", ErrorCode(answer.error_code).name, told])
        return list(answer.tokens)

    def renews(self, client: Login, token: Any, period_ms: int, *, secret: bytes | None = None, what: str = "") -> None:
        """RenewDelegationToken."""
        request = RenewDelegationTokenRequest(bytes(token.hmac) if secret is None else secret, period_ms)
        self._changed(f"renews {what} for {period_ms}", token, self.served(client, request, 2, f"renews {what}"))

    def expires(
        self, client: Login, token: Any, period_ms: int, *, secret: bytes | None = None, what: str = ""
    ) -> None:
        """ExpireDelegationToken."""
        request = ExpireDelegationTokenRequest(bytes(token.hmac) if secret is None else secret, period_ms)
        self._changed(f"expires {what} in {period_ms}", token, self.served(client, request, 2, f"expires {what}"))

    def _changed(self, what: str, token: Any, answer: Any) -> None:
        if answer is not None:
            self.wait(_WAIT_S)
            passed = answer.expiry_timestamp_ms - token.issue_timestamp_ms
            told = answer.expiry_timestamp_ms if answer.error_code else _near(passed)
            self.transcript.append([what, ErrorCode(answer.error_code).name, told])


def _times(issued_ms: int, expiry_ms: int, max_ms: int) -> dict[str, Any]:
    if issued_ms < 0:
        return {"issued": issued_ms, "expires": expiry_ms, "ends": max_ms}
    return {"expires": _near(expiry_ms - issued_ms), "ends": _near(max_ms - issued_ms)}


def _near(ms: int) -> str:
    """A distance of times, but for what the test took."""
    if ms < -_NEAR_MS:
        return "before"
    for name, size in (("days", 24 * HOUR_MS), ("hours", HOUR_MS)):
        count = round(ms / size)
        if count and abs(ms - count * size) < _NEAR_MS:
            return f"{count} {name}"
    return "seconds" if ms < _NEAR_MS else "for ever" if ms > 1000 * 24 * HOUR_MS else f"{round(ms / _NEAR_MS)} minutes"


def upsert(
    name: str, mechanism: int = 1, iterations: int = 4096, salt: bytes = b"salt", salted: bytes = b"p" * 32
) -> Any:
    return ScramCredentialUpsertion(name, mechanism, iterations, salt, salted)


def delete(name: str, mechanism: int = 1) -> Any:
    return ScramCredentialDeletion(name, mechanism)


# -- users


def users(c: Talk) -> None:
    """Users come, change and go."""
    c.describes(everybody=True)
    c.describes()
    c.describes("nobody-yet")
    c.alters(upsert("u1"), what="a new user")
    c.alters(upsert("u1", 2), what="the other mechanism")
    c.alters(upsert("u1", 2, 16384), what="it again")
    c.describes("u1")
    c.describes("u1", "nobody-yet", "", "ü", "u1")
    c.alters(*(upsert(f"many-{number}", 1 + number % 2) for number in range(20)), what="twenty users")
    c.describes(everybody=True)
    c.alters(delete("u1"), what="one mechanism away")
    c.alters(delete("u1"), what="it again away")
    c.describes("u1")
    c.alters(delete("u1", 2), *(delete(f"many-{number}", 1 + number % 2) for number in range(20)), what="all away")
    c.describes(everybody=True)


def odd_users(c: Talk) -> None:
    """Each error of AlterUserScramCredentials."""
    c.alters(what="nothing")
    for what, row in {
        "without a name": upsert(""),
        "of no mechanism": upsert("o", 0),
        "of an unknown mechanism": upsert("o", 3),
        "of a negative mechanism": upsert("o", -1),
        "of too few iterations": upsert("o", 1, 4095),
        "of 0 iterations": upsert("o", 1, 0),
        "of negative iterations": upsert("o", 1, -1),
        "of too many iterations": upsert("o", 2, 16385),
        "without a salt": upsert("o1", salt=b""),
        "without a password": upsert("o2", salted=b""),
        "with a short password": upsert("o3", salted=b"p"),
        "with a long password": upsert("o4", salted=b"p" * 500),
        "with a long name": upsert("n" * 1000),
        "with an odd name": upsert("n\u0000=,\u00fc\u2603 \n"),
        "nobody away": delete("nobody-yet"),
        "without a name away": delete(""),
        "of an unknown mechanism away": delete("o1", 3),
        "of no mechanism away": delete("o1", 0),
        "the other mechanism away": delete("o1", 2),
    }.items():
        c.alters(row, what=what)
    c.alters(upsert("d"), upsert("d", 2), what="both mechanisms at once")
    c.alters(upsert("d"), upsert("d"), what="the same twice")
    c.alters(delete("o1"), upsert("o1"), what="one away and here again")
    c.alters(delete("o1"), delete("o1"), what="away twice")
    c.alters(delete("o1"), delete("o1", 2), delete("o1"), upsert("o1"), what="four times")
    c.alters(upsert("", 3, 0), what="wrong in all")
    c.alters(upsert("d", 3), upsert("d", 1), what="wrong, then right")
    c.alters(upsert("d", 1), upsert("d", 3), what="right, then wrong")
    mixed = [
        delete("nobody-yet"),
        delete("o3"),
        upsert("e1"),
        upsert("e2", 1, 1),
        upsert("e3", salted=b""),
        upsert("e4"),
    ]
    c.alters(*mixed, what="right and wrong together")
    c.describes(everybody=True)
    gone = ["o1", "o4", "e1", "e4", "n" * 1000, "n\u0000=,\u00fc\u2603 \n"]
    c.alters(*(delete(name) for name in gone), what="the rest away")
    c.describes(everybody=True)


def new_passwords(c: Talk) -> None:
    """A user whose password changes, and who is deleted; open connections go on."""
    for password in ("first", "second"):
        c.alters(upsert("changing", salted=salted_password(password, b"salt", 4096)), what=password)
        c.wait(_WAIT_S)
        for tried in ("first", "second"):
            c.begins_scram()
            c.scram(ScramClient("changing", tried), f"by {tried}")
    c.alters(delete("changing"), what="away")
    c.wait(_WAIT_S)
    c.is_served()
    c.begins_scram()
    c.scram(ScramClient("changing", "second"))


# -- tokens


def tokens(c: Talk) -> None:
    """A token is made, shown, used, renewed, and ends."""
    alice = c.of("alice")
    token = c.creates(alice, [("User", "bob")])
    c.shows(alice, None, what="all")
    for version in (1, 2, 3):
        c.shows(alice, [("User", "alice")], version=version, what="alice's")
        c.creates(alice, version=version)
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        client = c.with_token(token, mechanism=mechanism)
        c.served(client, ListGroupsRequest(), 4, "is served")
    for period_ms in (-1, 0, HOUR_MS, LONG, -LONG):
        c.renews(alice, token, period_ms, what="its own")
    c.renews(c.of("bob"), token, HOUR_MS, what="as renewer")
    c.renews(c.of("admin"), token, HOUR_MS, what="as a stranger")
    c.expires(c.of("admin"), token, HOUR_MS, what="as a stranger")
    for period_ms in (2 * HOUR_MS, LONG):
        c.expires(alice, token, period_ms, what="its own")
    c.expires(c.of("bob"), token, 3 * HOUR_MS, what="as renewer")
    c.renews(alice, token, 1, what="its own")
    c.wait(_WAIT_S)
    c.expires(alice, token, 0, what="its own")
    c.renews(alice, token, HOUR_MS, what="expired")
    c.expires(alice, token, HOUR_MS, what="expired")
    c.shows(alice, None, what="all")
    late = c.with_token(token)
    c.served(late, ListGroupsRequest(), 4, "with an expired token")
    c.expires(c.of("admin"), token, -1, what="as a stranger")
    c.expires(c.of("bob"), token, -1, what="as renewer, at once")
    c.expires(alice, token, -1, what="again")
    c.renews(alice, token, -1, what="gone")
    c.shows(alice, None, what="all")
    c.with_token(token)
    c.served(client, ListGroupsRequest(), 4, "on a connection of before")
    for secret in (b"", b"x", bytes(64)):
        c.renews(alice, token, -1, secret=secret, what=f"{len(secret)} bytes")
        c.expires(alice, token, -1, secret=secret, what=f"{len(secret)} bytes")
    for other in c.tokens[1:]:
        c.expires(alice, other, -1, what="all")


def odd_tokens(c: Talk) -> None:
    """Lifetimes, owners and renewers."""
    alice = c.of("alice")
    for life_ms in (0, -1, -5, 1, HOUR_MS, 2 * 24 * HOUR_MS, 30 * 24 * HOUR_MS, LONG):
        c.creates(alice, life_ms=life_ms, what=f"for {life_ms}")
    for renewers in (
        [("User", "bob"), ("User", "alice"), ("User", "bob")],
        [("Group", "g")],
        [("User", "bob"), ("user", "b")],
        [("", "")],
        [("User", "")],
        [("User", "a:b")],
    ):
        c.creates(alice, renewers, what=f"with renewers {renewers}")
    for owner in (
        ("User", "bob"),
        ("User", "alice"),
        ("Group", "g"),
        ("user", "bob"),
        ("", "bob"),
        (None, None),
        ("User", None),
        ("User", ""),
        (None, "bob"),
        ("User", "a:b"),
        ("User", "z\u00e4"),
    ):
        made = c.creates(c.of("admin"), [("User", "admin")], owner=owner, what=f"for {owner}")
        if made is not None and made.error_code == 0 and owner in (("User", "bob"), ("Group", "g")):
            client = c.with_token(made)
            c.creates(client, what="with it")
            c.renews(c.of("admin"), made, -1, what="as renewer")
            other = c.creates(c.of("admin"), owner=("User", "bob"), what="without renewers")
            c.renews(c.of("admin"), other, -1, what="as requester")
            c.renews(c.of("bob"), made, -1, what="as bob")
    bob = c.of("bob")
    for owners in (
        None,
        [],
        [("User", "bob")],
        [("User", "alice")],
        [("User", "nobody")],
        [("Group", "g")],
        [("User", "bob"), ("User", "alice")],
        [("", "")],
    ):
        c.shows(bob, owners, what=f"of {owners}")
    c.with_token(c.tokens[0], key="wrong")
    for made in c.tokens:
        for who in ("admin", "alice", "bob"):
            c.expires(c.of(who), made, -1, what="away")


def not_allowed(c: Talk) -> None:
    """Where tokens may not be asked for: on a plain listener, and with a token."""
    token = c.creates(c.of("alice"))
    for what, client in (("nobody", c.of("nobody")), ("a token", c.with_token(token))):
        for version in (1, 2, 3):
            c.creates(client, version=version, what=f"as {what}")
        c.creates(client, [("Group", "g")], owner=("User", "bob"), what=f"as {what} for another")
        c.shows(client, None, what=f"as {what}")
        c.shows(client, [], what=f"as {what}")
        c.renews(client, token, -1, what=f"as {what}")
        c.expires(client, token, -1, what=f"as {what}")
        c.expires(client, token, -1, secret=b"x", what=f"as {what}, an unknown one")
    c.expires(c.of("alice"), token, -1)


def sessions_of_tokens(c: Talk) -> None:
    """A session ends with its token, or after `connections.max.reauth.ms`, whichever comes first."""
    alice = c.of("alice")
    token = c.creates(alice, life_ms=2 * HOUR_MS)
    c.with_known_token(token, "SASL")
    c.with_known_token(token, "REAUTH")
    c.expires(alice, token, HOUR_MS // 2)
    c.with_token(token, "REAUTH")
    c.expires(alice, token, -1)


CONVERSATIONS = conversations(__name__)


def transcribe(name: str, ports: Ports, wait: Callable[[float], object] = time.sleep) -> Transcript:
    """Hold one conversation with a broker of `sasl_properties` that has no SCRAM users and no tokens."""
    return held(Talk(ports, wait), CONVERSATIONS[name])
