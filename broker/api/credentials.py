"""How clients log in: SASL, the users of SCRAM, and delegation tokens.

SaslHandshake (key 17, versions 0 and 1) and SaslAuthenticate (key 36, versions 0 to 2).

Before the log-in they belong to the connection's gate (`net/login_gate.py`). After it, and on listeners where nobody
logs in, they are refused and the connection goes on. SaslAuthenticate v1 tells how long the session lasts (KIP-368).

DescribeUserScramCredentials (key 50) and AlterUserScramCredentials (key 51), version 0 (KIP-554).

CreateDelegationToken (key 38), RenewDelegationToken (39), ExpireDelegationToken (40), DescribeDelegationToken (41):
versions 1 to 3 of create and describe, 1 and 2 of the others (KIP-48; v3 makes tokens for others, KIP-373). They are
refused on listeners where nobody logs in, and to whoever has logged in with a token.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from odradek.broker.api.lookups import check_forwards
from odradek.broker.config.listeners import SecurityProtocol
from odradek.broker.controller import scram_control, token_control
from odradek.broker.controller.scram_control import ScramDeletion, ScramUpsertion
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import NEVER_LONG, OPEN, ByItem, Whole, handles
from odradek.broker.security.acl import Operation, Resource
from odradek.broker.security.principal import ANONYMOUS, USER, Principal
from odradek.broker.security.sasl.credentials import SCRAM_HASHES, token_hmac
from odradek.protocol.errors import ErrorCode, KafkaError, code_and_text
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from odradek.protocol.generated.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from odradek.protocol.generated.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from odradek.protocol.generated.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from odradek.protocol.generated.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from odradek.protocol.generated.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from odradek.protocol.java_maps import HashTable, hash_of_text

if TYPE_CHECKING:
    from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord


@handles(SaslHandshakeRequest, access=OPEN, long_bytes=NEVER_LONG)
def sasl_handshake(ctx: RequestContext, request: SaslHandshakeRequest) -> Any:
    """Name the mechanism of the log-in."""
    login = ctx.connection.login
    if login is None:
        return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)
    return login.handshake(ctx, request.mechanism)


@handles(SaslAuthenticateRequest, access=OPEN, long_bytes=NEVER_LONG)
def sasl_authenticate(ctx: RequestContext, request: SaslAuthenticateRequest) -> Any:
    """One token of the log-in, and the broker's answer to it."""
    login = ctx.connection.login
    if login is None:
        return SaslAuthenticateResponse(
            ErrorCode.ILLEGAL_SASL_STATE, "SaslAuthenticate request received after successful authentication"
        )
    return login.authenticate(ctx, bytes(request.auth_bytes))


# -- users of SCRAM


@handles(DescribeUserScramCredentialsRequest, access=Whole(Operation.DESCRIBE, message=None))
def describe_user_scram_credentials(
    ctx: RequestContext, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    """Mechanisms and iterations of users: of all of them if none is named."""
    scram = ctx.services.image.scram
    named = [user.name for user in request.users or ()]
    names = named or [name for mechanism in SCRAM_HASHES for name, number in scram if number == mechanism]
    twice = {name for name, count in Counter(named).items() if count > 1}
    return DescribeUserScramCredentialsResponse(
        results=[_described(ctx, name, name in twice) for name in HashTable(hash_of_text, names)]
    )


def _described(ctx: RequestContext, name: str, twice: bool) -> DescribeUserScramCredentialsResult:
    if twice:
        text = f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}"
        return DescribeUserScramCredentialsResult(name, ErrorCode.DUPLICATE_RESOURCE, text)
    scram = ctx.services.image.scram
    found = [
        CredentialInfo(mechanism, scram[name, mechanism].iterations)
        for mechanism in SCRAM_HASHES
        if (name, mechanism) in scram
    ]
    if not found:
        text = f"Attempt to describe a user credential that does not exist: {name}"
        return DescribeUserScramCredentialsResult(name, ErrorCode.RESOURCE_NOT_FOUND, text)
    return DescribeUserScramCredentialsResult(name, credential_infos=found)


@handles(AlterUserScramCredentialsRequest, access=Whole(Operation.ALTER))
def alter_user_scram_credentials(
    ctx: RequestContext, request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    """Set and delete credentials of users, each for itself."""
    check_forwards(ctx)
    outcomes = ctx.services.controller.ask(
        scram_control.alter_scram_users,
        [ScramDeletion(row.name, row.mechanism) for row in request.deletions],
        [
            ScramUpsertion(row.name, row.mechanism, row.iterations, bytes(row.salt), bytes(row.salted_password))
            for row in request.upsertions
        ],
    )
    return AlterUserScramCredentialsResponse(
        results=[AlterUserScramCredentialsResult(name, *code_and_text(error)) for name, error in outcomes]
    )


# -- delegation tokens

_NO_TIME = -1


def _may_ask(ctx: RequestContext) -> bool:
    """Whether the client may ask about tokens over this connection."""
    client = ctx.connection
    return not (
        client.principal.token_authenticated
        or client.protocol is SecurityProtocol.PLAINTEXT
        or (client.protocol is SecurityProtocol.SSL and client.principal == ANONYMOUS)
    )


@handles(CreateDelegationTokenRequest, access=ByItem((Operation.CREATE_TOKENS, Resource.USER)))
def create_delegation_token(
    ctx: RequestContext, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    """Make a token for the client or, if it has the right, for another user."""
    requester = ctx.connection.principal
    if request.owner_principal_name and request.owner_principal_type is None:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    owner = requester
    if request.owner_principal_name:
        owner = Principal(request.owner_principal_type or "", request.owner_principal_name)
    renewers = [Principal(renewer.principal_type, renewer.principal_name) for renewer in request.renewers]
    try:
        if not _may_ask(ctx):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
        if owner != requester and not ctx.allows(Operation.CREATE_TOKENS, Resource.USER, str(owner)):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
        if any(renewer.kind != USER for renewer in renewers):
            raise KafkaError(ErrorCode.INVALID_PRINCIPAL_TYPE)
        made = ctx.services.controller.ask(
            token_control.create_token, owner, requester, renewers, request.max_lifetime_ms
        )
    except KafkaError as error:
        return _created(ctx, owner, CreateDelegationTokenResponse(error.code))
    return _created(
        ctx,
        owner,
        CreateDelegationTokenResponse(
            issue_timestamp_ms=made.issued_ms,
            expiry_timestamp_ms=made.expires_ms,
            max_timestamp_ms=made.ends_ms,
            token_id=made.token_id,
            hmac=made.hmac,
        ),
    )


def _created(
    ctx: RequestContext, owner: Principal, answer: CreateDelegationTokenResponse
) -> CreateDelegationTokenResponse:
    requester = ctx.connection.principal
    answer.principal_type, answer.principal_name = owner.kind, owner.name
    if ctx.api_version > 2:
        answer.token_requester_principal_type = requester.kind
        answer.token_requester_principal_name = requester.name
    if answer.error_code not in (0, ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED):
        answer.issue_timestamp_ms = answer.expiry_timestamp_ms = answer.max_timestamp_ms = _NO_TIME
    return answer


@handles(RenewDelegationTokenRequest, access=OPEN)
def renew_delegation_token(ctx: RequestContext, request: RenewDelegationTokenRequest) -> RenewDelegationTokenResponse:
    """Let a token live longer: its owner and its renewers may."""
    if not _may_ask(ctx):
        return RenewDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, _NO_TIME)
    renewal = bytes(request.hmac), ctx.connection.principal, request.renew_period_ms
    expiry_ms = ctx.services.controller.ask(token_control.renew_token, *renewal)
    return RenewDelegationTokenResponse(expiry_timestamp_ms=expiry_ms)


@handles(ExpireDelegationTokenRequest, access=OPEN)
def expire_delegation_token(
    ctx: RequestContext, request: ExpireDelegationTokenRequest
) -> ExpireDelegationTokenResponse:
    """Let a token expire earlier, or end now: its owner and its renewers may."""
    if not _may_ask(ctx):
        return ExpireDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, _NO_TIME)
    end = bytes(request.hmac), ctx.connection.principal, request.expiry_time_period_ms
    expiry_ms = ctx.services.controller.ask(token_control.expire_token, *end)
    return ExpireDelegationTokenResponse(expiry_timestamp_ms=expiry_ms)


@handles(
    DescribeDelegationTokenRequest,
    access=ByItem((Operation.DESCRIBE, Resource.DELEGATION_TOKEN), (Operation.DESCRIBE_TOKENS, Resource.USER)),
)
def describe_delegation_token(
    ctx: RequestContext, request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    """The tokens of these owners (None: of all) that the client may see: its own, and those that it has a right to."""
    if not _may_ask(ctx):
        return DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    key = ctx.services.config.get("delegation.token.secret.key")
    if not isinstance(key, str) or not key:
        return DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    wanted = None
    if request.owners is not None:
        wanted = {f"{owner.principal_type}:{owner.principal_name}" for owner in request.owners}
    return DescribeDelegationTokenResponse(
        tokens=[
            _described_token(ctx, record, key)
            for record in ctx.services.image.delegation_tokens.values()
            if (wanted is None or wanted & {record.owner, *record.renewers}) and _may_see(ctx, record)
        ]
    )


def _may_see(ctx: RequestContext, record: DelegationTokenRecord) -> bool:
    return (
        str(ctx.connection.principal) in (record.owner, *record.renewers)
        or ctx.allows(Operation.DESCRIBE, Resource.DELEGATION_TOKEN, record.token_id, tell=False)
        or ctx.allows(Operation.DESCRIBE_TOKENS, Resource.USER, record.owner, tell=False)
    )


def _described_token(ctx: RequestContext, record: DelegationTokenRecord, key: str) -> DescribedDelegationToken:
    kind, _, name = record.owner.partition(":")
    described = DescribedDelegationToken(
        principal_type=kind,
        principal_name=name,
        issue_timestamp=record.issue_timestamp,
        expiry_timestamp=record.expiration_timestamp,
        max_timestamp=record.max_timestamp,
        token_id=record.token_id,
        hmac=token_hmac(key, record.token_id),
        renewers=[
            DescribedDelegationTokenRenewer(kind, name)
            for kind, _, name in (renewer.partition(":") for renewer in record.renewers)
        ],
    )
    if ctx.api_version > 2:
        kind, _, name = record.requester.partition(":")
        described.token_requester_principal_type = kind
        described.token_requester_principal_name = name
    return described
