"""Which quota counts for a client, of all that are set: Kafka's order of precedence.

For user and client id, from the most special: (user, client id), (user, default client id), (user), (default user,
client id), (default user, default client id), (default user), (client id), (default client id).
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.metadata.image import QuotaEntity

PRODUCE, FETCH, REQUEST, MUTATION = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
)
CONNECTION = "connection_creation_rate"

ABSENT, DEFAULT = "", None
"""What stands for a type that an entity has not, and for its default; names are never empty."""

Tags = tuple[str, str | None]
"""The user and the client id by which something is counted; empty where it does not matter."""
_Entity = tuple[str | None, str | None]


class Limits:
    """The values of one quota key. Values only: a change makes another one.

    Clients that share a quota of a user are counted together; those of one that is for several client ids are counted
    by client id.
    """

    __slots__ = ("_by_entity", "_kinds")

    def __init__(self, key: str, quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> None:
        self._by_entity: dict[_Entity, float] = {}
        for entity, values in quotas.items():
            named = dict(entity)
            if key in values and "ip" not in named:
                self._by_entity[named.get("user", ABSENT), named.get("client-id", ABSENT)] = values[key]
        self._kinds = {(user != ABSENT, client != ABSENT) for user, client in self._by_entity}

    def __bool__(self) -> bool:
        """Whether anybody has such a quota."""
        return bool(self._by_entity)

    def tags(self, user: str, client_id: str | None) -> Tags:
        """By what a client is counted."""
        if len(self._kinds) <= 1:
            by_user, by_client = next(iter(self._kinds), (False, True))
            return user if by_user else ABSENT, client_id if by_client else ABSENT
        known = self._by_entity
        if (user, client_id) in known or (user, DEFAULT) in known:
            return user, client_id
        if (user, ABSENT) in known:
            return user, ABSENT
        if (DEFAULT, client_id) in known or (DEFAULT, DEFAULT) in known:
            return user, client_id
        return (user, ABSENT) if (DEFAULT, ABSENT) in known else (ABSENT, client_id)

    def limit(self, tags: Tags) -> float | None:
        """The quota of what is counted by these tags; None for no limit."""
        user, client_id = tags
        if client_id is None:
            return None  # Kafka finds no quota for a client without an id where client ids matter
        if user and client_id:
            places: tuple[_Entity, ...] = ((user, client_id), (user, DEFAULT), (DEFAULT, client_id), (DEFAULT, DEFAULT))
        elif user:
            places = ((user, ABSENT), (DEFAULT, ABSENT))
        elif client_id:
            places = ((ABSENT, client_id), (ABSENT, DEFAULT))
        else:
            return None
        known = self._by_entity
        return next((known[place] for place in places if place in known), None)
