"""DescribeUserScramCredentials (key 50) and AlterUserScramCredentials (key 51), version 0 (KIP-554)."""

from __future__ import annotations

from collections import Counter

from odradek.broker.api.active_controller import is_for_another
from odradek.broker.controller.commands import AlterScramUsers, ScramDeletion, ScramUpsertion
from odradek.broker.requests.access import Whole
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import handles
from odradek.broker.security.acl import Operation
from odradek.broker.security.sasl.credentials import SCRAM_HASHES
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from odradek.protocol.generated.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from odradek.protocol.java_hash_table import HashTable
from odradek.protocol.java_maps import hash_of_text


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
    if is_for_another(ctx):
        names = sorted({row.name for row in request.deletions} | {row.name for row in request.upsertions})
        return AlterUserScramCredentialsResponse(
            results=[AlterUserScramCredentialsResult(name, ErrorCode.NOT_CONTROLLER, None) for name in names]
        )
    command = AlterScramUsers(
        [ScramDeletion(row.name, row.mechanism) for row in request.deletions],
        [
            ScramUpsertion(row.name, row.mechanism, row.iterations, bytes(row.salt), bytes(row.salted_password))
            for row in request.upsertions
        ],
    )
    return AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(name, 0, None)
            if error is None
            else AlterUserScramCredentialsResult(name, error.code, error.message)
            for name, error in ctx.services.controller.ask(command)
        ]
    )
