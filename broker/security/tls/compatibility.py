"""Whether the certificates of a new key store may replace those of a running listener."""

from __future__ import annotations

from odradek.broker.security.tls.certificate_names import alternative_names, subject_of
from odradek.broker.security.tls.entries import ChangeError, Store


def check_compatible(new: Store, old: Store, *, allow_dn_changes: bool, allow_san_changes: bool) -> None:
    """ChangeError in Kafka's words unless the names stay (`ssl.allow.dn.changes`, `ssl.allow.san.changes`).

    Each entry must keep its distinguished name and all its alternative names.
    """
    if allow_dn_changes and allow_san_changes:
        return
    before, after = old.certificates(), new.certificates()
    if len(before) != len(after):
        raise ChangeError(
            f"Keystore entries do not match, existing store contains {len(before)} entries, "
            f"new store contains {len(after)} entries"
        )
    for (old_alias, was), (new_alias, now) in zip(sorted(before.items()), sorted(after.items()), strict=True):
        old_name, new_name = subject_of(was), subject_of(now)
        if not allow_dn_changes and old_name.lower() != new_name.lower():
            raise ChangeError(
                "Keystore DistinguishedName does not match:  "
                f"existing={{alias={old_alias}, DN={old_name}}}, new={{alias={new_alias}, DN={new_name}}}"
            )
        old_names, new_names = alternative_names(was), alternative_names(now)
        if not allow_san_changes and not old_names <= new_names:
            raise ChangeError(
                "Keystore SubjectAltNames do not match:  "
                f"existing={{alias={old_alias}, SAN=[{', '.join(sorted(old_names))}]}}, "
                f"new={{alias={new_alias}, SAN=[{', '.join(sorted(new_names))}]}}"
            )
