"""Errors of the REST API, with the codes that clients know."""

from __future__ import annotations


class RegistryError(Exception):
    """A request is refused. ``code``: three digits, or five of which the first three are the HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __repr__(self) -> str:
        return f"<RegistryError {self.code}: {self.message}>"

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.code if self.code < 1000 else self.code // 100


def subject_not_found(subject: str) -> RegistryError:
    """40401."""
    return RegistryError(40401, f"there is no subject {subject!r}")


def version_not_found(subject: str, version: int) -> RegistryError:
    """40402."""
    return RegistryError(40402, f"subject {subject!r} has no version {version_text(version)}")


def schema_not_found(what: str) -> RegistryError:
    """40403."""
    return RegistryError(40403, f"there is no schema {what}")


def subject_soft_deleted(subject: str) -> RegistryError:
    """40404."""
    return RegistryError(40404, f"subject {subject!r} is soft-deleted already; delete it for good with permanent=true")


def subject_not_soft_deleted(subject: str) -> RegistryError:
    """40405."""
    return RegistryError(40405, f"subject {subject!r} must be soft-deleted before it is deleted for good")


def version_soft_deleted(subject: str, version: int) -> RegistryError:
    """40406."""
    return RegistryError(
        40406, f"version {version} of {subject!r} is soft-deleted already; delete it with permanent=true"
    )


def version_not_soft_deleted(subject: str, version: int) -> RegistryError:
    """40407."""
    return RegistryError(40407, f"version {version} of {subject!r} must be soft-deleted before it is deleted for good")


def config_not_set(subject: str) -> RegistryError:
    """40408."""
    return RegistryError(40408, f"subject {subject!r} has no compatibility level of its own")


def mode_not_set(subject: str) -> RegistryError:
    """40409."""
    return RegistryError(40409, f"subject {subject!r} has no mode of its own")


def incompatible(subject: str, reasons: list[str]) -> RegistryError:
    """40901."""
    return RegistryError(40901, f"the schema is not compatible with earlier ones of {subject!r}: " + "; ".join(reasons))


def invalid_schema(why: str) -> RegistryError:
    """42201."""
    return RegistryError(42201, why)


def invalid_version(text: str) -> RegistryError:
    """42202."""
    return RegistryError(42202, f"invalid version {text!r}: expected 1 to {2**31 - 1}, or latest")


def invalid_level(why: str) -> RegistryError:
    """42203."""
    return RegistryError(42203, why)


def invalid_mode(text: object) -> RegistryError:
    """42204."""
    return RegistryError(42204, f"invalid mode {text!r}: expected READWRITE, READONLY, READONLY_OVERRIDE or IMPORT")


def not_permitted(why: str) -> RegistryError:
    """42205."""
    return RegistryError(42205, why)


def referenced(subject: str, version: int, by: list[int]) -> RegistryError:
    """42206."""
    ids = ", ".join(map(str, by))
    return RegistryError(42206, f"version {version} of {subject!r} is referenced by the schemas with the ids {ids}")


def invalid_subject(subject: str) -> RegistryError:
    """42208."""
    return RegistryError(42208, f"invalid subject name {subject!r}")


def too_large(largest: int) -> RegistryError:
    """42209."""
    return RegistryError(42209, f"the request is larger than {largest} bytes")


def invalid_rules(why: str) -> RegistryError:
    """42210."""
    return RegistryError(42210, why)


def context_not_empty(context: str) -> RegistryError:
    """42211."""
    return RegistryError(42211, f"context {context!r} is not empty: it has subjects, perhaps soft-deleted ones")


def store_failed(why: str) -> RegistryError:
    """50001."""
    return RegistryError(50001, why)


def bad_request(why: str) -> RegistryError:
    """422: the request is not as the endpoint expects it."""
    return RegistryError(422, why)


def too_expensive(what: str, why: str) -> RegistryError:
    """422: parsing or comparing takes more than a request may cost."""
    return RegistryError(422, f"{what} is too expensive: {why}")


def too_busy(what: str) -> RegistryError:
    """429: many expensive requests wait already."""
    return RegistryError(429, f"{what} has to wait: too many expensive schemas are asked for; try again")


def version_text(version: int) -> str:
    """A version as a user names it: -1 is the latest."""
    return "latest" if version < 0 else str(version)
