"""Errors of the REST API, with the codes that clients know."""

from __future__ import annotations

from collections.abc import Callable


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
        return self.code if self.code < 1000 else self.code // 100


def _refusal(code: int, text: str) -> Callable[..., RegistryError]:
    """Makes the errors of a code. ``text``: the message, with places for the values."""
    return lambda *values: RegistryError(code, text.format(*values))


subject_not_found = _refusal(40401, "there is no subject {!r}")
schema_not_found = _refusal(40403, "there is no schema {}")
subject_soft_deleted = _refusal(40404, "subject {!r} is soft-deleted already; delete it for good with permanent=true")
subject_not_soft_deleted = _refusal(40405, "subject {!r} must be soft-deleted before it is deleted for good")
version_soft_deleted = _refusal(40406, "version {1} of {0!r} is soft-deleted already; delete it with permanent=true")
version_not_soft_deleted = _refusal(40407, "version {1} of {0!r} must be soft-deleted before it is deleted for good")
config_not_set = _refusal(40408, "subject {!r} has no compatibility level of its own")
mode_not_set = _refusal(40409, "subject {!r} has no mode of its own")
invalid_schema = _refusal(42201, "{}")
invalid_version = _refusal(42202, f"invalid version {{!r}}: expected 1 to {2**31 - 1}, or latest")
invalid_level = _refusal(42203, "{}")
invalid_mode = _refusal(42204, "invalid mode {!r}: expected READWRITE, READONLY, READONLY_OVERRIDE or IMPORT")
not_permitted = _refusal(42205, "{}")
invalid_subject = _refusal(42208, "invalid subject name {!r}")
too_large = _refusal(42209, "the request is larger than {} bytes")
invalid_rules = _refusal(42210, "{}")
context_not_empty = _refusal(42211, "context {!r} is not empty: it has subjects, perhaps soft-deleted ones")
store_failed = _refusal(50001, "{}")
bad_request = _refusal(422, "{}")
too_expensive = _refusal(422, "{} is too expensive: {}")
too_busy = _refusal(429, "{} has to wait: too many expensive schemas are asked for; try again")


def version_not_found(subject: str, version: int) -> RegistryError:
    return RegistryError(40402, f"subject {subject!r} has no version {version_text(version)}")


def incompatible(subject: str, reasons: list[str]) -> RegistryError:
    return RegistryError(40901, f"the schema is not compatible with earlier ones of {subject!r}: " + "; ".join(reasons))


def referenced(subject: str, version: int, by: list[int]) -> RegistryError:
    ids = ", ".join(map(str, by))
    return RegistryError(42206, f"version {version} of {subject!r} is referenced by the schemas with the ids {ids}")


def version_text(version: int) -> str:
    """A version as a user names it: -1 is the latest."""
    return "latest" if version < 0 else str(version)
