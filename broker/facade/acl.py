"""A right as a user writes it: who may, or may not, do what with which resource."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.security.acl import CLUSTER_NAME, Operation, Pattern, Permission, Resource
from odradek.broker.security.acl import Acl as Entry

_OPERATIONS = {operation.name: operation for operation in Operation if operation > Operation.ANY}


class Acl:
    """What a user may do: ``Acl("alice", "READ", topic="orders")``.

    ``operations``: one or several of Kafka's (``"READ"``, ``["WRITE", "CREATE"]``, ``"ALL"``). Exactly one resource:
    ``topic``, ``group``, ``transactional_id``, ``delegation_token``, ``of_user`` (a user's tokens), or
    ``cluster=True``. A name may be ``"*"``; with ``prefixed=True`` all names that begin with it are meant.
    ``user="*"`` is everyone. ``deny=True`` forbids, which goes before what is allowed. ``host``: an address of the
    client, or ``"*"``. ValueError, which names the mistake, for anything else.
    """

    __slots__ = ("entries",)

    def __init__(
        self,
        user: str,
        operations: str | Sequence[str],
        *,
        topic: str | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        delegation_token: str | None = None,
        of_user: str | None = None,
        cluster: bool = False,
        prefixed: bool = False,
        deny: bool = False,
        host: str = "*",
    ) -> None:
        named = {
            Resource.TOPIC: topic,
            Resource.GROUP: group,
            Resource.TRANSACTIONAL_ID: transactional_id,
            Resource.DELEGATION_TOKEN: delegation_token,
            Resource.USER: None if of_user is None else principal_text(of_user),
            Resource.CLUSTER: CLUSTER_NAME if cluster else None,
        }
        given = [(resource, name) for resource, name in named.items() if name is not None]
        if len(given) != 1 or not given[0][1]:
            raise ValueError(
                f"Acl({user!r}, {operations!r}): name exactly one of topic, group, transactional_id, "
                "delegation_token, of_user, or cluster=True"
            )
        resource, name = given[0]
        if prefixed and resource is Resource.CLUSTER:
            raise ValueError(f"Acl({user!r}, {operations!r}): the cluster has no prefix")
        asked = [operations] if isinstance(operations, str) else list(operations)
        if not asked:
            raise ValueError(f"Acl({user!r}, []): name at least one operation")
        self.entries = [
            Entry(
                resource,
                name,
                Pattern.PREFIXED if prefixed else Pattern.LITERAL,
                principal_text(user),
                host,
                _operation(text),
                Permission.DENY if deny else Permission.ALLOW,
            )
            for text in asked
        ]

    def __repr__(self) -> str:
        return f"<Acl {'; '.join(str(entry) for entry in self.entries)}>"


def principal_text(user: str) -> str:
    """A principal as Kafka writes it: ``User:alice`` for ``alice``; a text with its kind stays as it is."""
    return user if user.startswith("User:") else f"User:{user}"


def _operation(text: str) -> Operation:
    operation = _OPERATIONS.get(text.upper())
    if operation is None:
        from odradek.broker.config.suggestion import did_you_mean

        raise ValueError(f"unknown operation {text}{did_you_mean(text, _OPERATIONS)}: one of {', '.join(_OPERATIONS)}")
    return operation
