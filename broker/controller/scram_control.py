"""SCRAM users: which credentials may be set or deleted.

Codes, texts and the order of results are those of Kafka 4.4.0. A user may occur once in a request, whatever the
mechanism. A salted password is turned into the keys that a server keeps, and forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from odradek.broker.controller.feature_levels import SCRAM_SINCE
from odradek.broker.controller.machine import Decision, MetadataState
from odradek.broker.metadata.image import METADATA_VERSION
from odradek.broker.security.sasl.credentials import SCRAM_HASHES, credential_of
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.remove_user_scram_credential_record import (
    RemoveUserScramCredentialRecord,
)
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord
from odradek.protocol.java_maps import HashTable, hash_of_text

if TYPE_CHECKING:
    from odradek.protocol.message import MetadataRecord

_V = TypeVar("_V")


class ScramDeletion(NamedTuple):
    """A user's credential to delete. `mechanism`: its number."""

    name: str
    mechanism: int


class ScramUpsertion(NamedTuple):
    """A credential to set: the password comes salted."""

    name: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes

    def __repr__(self) -> str:
        return f"ScramUpsertion({self.name!r}, {self.mechanism})"


class ScramOutcome(NamedTuple):
    """The result of a user's change."""

    name: str
    error: KafkaError | None


def alter_scram_users(
    state: MetadataState, removed: Sequence[ScramDeletion], added: Sequence[ScramUpsertion]
) -> Decision[list[ScramOutcome]]:
    """Set and delete credentials, each for itself; replies for each user once.

    Nothing is changed before `metadata.version` 3.5-IV2.
    """
    if 0 < state.image.feature(METADATA_VERSION) < SCRAM_SINCE:
        names = [*(each.name for each in removed), *(each.name for each in added)]
        text = "The current metadata.version does not support SCRAM"
        refused = KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)
        return [], [ScramOutcome(name, refused) for name in dict.fromkeys(names)]
    deletions: _ByUser[ScramDeletion] = _ByUser()
    upsertions: _ByUser[ScramUpsertion] = _ByUser()
    errors: _ByUser[KafkaError] = _ByUser()
    for deletion in removed:
        name = deletion.name
        if name not in errors:
            error = _TWICE if deletions.discard(name) else _check_deletion(state, deletion)
            deletions.put(name, deletion) if error is None else errors.put(name, error)
    for upsertion in added:
        name = upsertion.name
        if name not in errors:
            twice = deletions.discard(name) or upsertions.discard(name)
            error = _TWICE if twice else _check_upsertion(upsertion)
            upsertions.put(name, upsertion) if error is None else errors.put(name, error)
    records: list[MetadataRecord] = [RemoveUserScramCredentialRecord(*deletion) for deletion in deletions]
    outcomes = [ScramOutcome(deletion.name, None) for deletion in deletions]
    for upsertion in upsertions:
        if upsertion.salted_password:
            records.append(_record(upsertion))
            outcomes.append(ScramOutcome(upsertion.name, None))
        else:  # Java knows no empty key
            errors.put(upsertion.name, KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR))
    outcomes += (ScramOutcome(name, error) for name, error in errors.items())
    return records, outcomes


def _check_deletion(state: MetadataState, deletion: ScramDeletion) -> KafkaError | None:
    error = _check_user(deletion.name, deletion.mechanism)
    if error is None and (deletion.name, deletion.mechanism) not in state.image.scram:
        text = "Attempt to delete a user credential that does not exist"
        return KafkaError(ErrorCode.RESOURCE_NOT_FOUND, text)
    return error


def _check_upsertion(upsertion: ScramUpsertion) -> KafkaError | None:
    error = _check_user(upsertion.name, upsertion.mechanism)
    if error is not None:
        return error
    kind = SCRAM_HASHES[upsertion.mechanism]
    if upsertion.iterations < kind.min_iterations:
        return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if upsertion.iterations > kind.max_iterations:
        return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    return None


def _check_user(name: str, mechanism: int) -> KafkaError | None:
    if not name:
        return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if mechanism not in SCRAM_HASHES:
        return KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    return None


def _record(upsertion: ScramUpsertion) -> UserScramCredentialRecord:
    name, mechanism, iterations, salt, salted = upsertion
    keys = credential_of(salted, salt, iterations, SCRAM_HASHES[mechanism])
    return UserScramCredentialRecord(name, mechanism, salt, keys.stored_key, keys.server_key, iterations)


_TWICE = KafkaError(ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request")


class _ByUser(Generic[_V]):
    """Values by user, walked in the order of a Java HashMap."""

    def __init__(self) -> None:
        self._order: HashTable = HashTable(hash_of_text)
        self._values: dict[str, _V] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[_V]:
        return (self._values[name] for name in self._order)

    def items(self) -> Iterator[tuple[str, _V]]:
        """Users and values."""
        return ((name, self._values[name]) for name in self._order)

    def put(self, name: str, value: _V) -> None:
        """Set a user's value."""
        self._order.add(name)
        self._values[name] = value

    def discard(self, name: str) -> bool:
        """Forget a user; whether there was one."""
        self._order.discard(name)
        return self._values.pop(name, None) is not None
