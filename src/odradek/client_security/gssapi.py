"""GSSAPI (RFC 4752) with Kerberos, the client's side, through the package `gssapi` (`odradek[gssapi]`).

The ticket comes from a keytab (`keyTab` and `principal` of the login module, as Java names them), or from the ticket
cache that `kinit` filled.
"""

from __future__ import annotations

import zlib
from typing import Any

from odradek.client_security.errors import AuthenticationError, SecurityOptionError
from odradek.client_security.options import SaslOptions

_NO_LAYER = 1


class Gssapi:
    """One log-in at a broker, whose principal is `service/host`."""

    name = "GSSAPI"

    def __init__(self, options: SaslOptions, host: str) -> None:
        self._gssapi = _library()
        self._context: Any = self._call(self._begun, options, host)

    def first(self) -> bytes:
        return bytes(self._call(self._context.step) or b"")

    def answer(self, challenge: bytes) -> bytes | None:
        if not self._context.complete:
            token = self._call(self._context.step, challenge)
            return bytes(token or b"")
        if not challenge:
            return None
        return bytes(self._call(self._layers, challenge))

    def _begun(self, options: SaslOptions, host: str) -> Any:
        library = self._gssapi
        service = library.Name(f"{options.service_name}@{host}", library.NameType.hostbased_service)
        return library.SecurityContext(
            name=service, creds=self._credentials(options), usage="initiate", mech=library.MechType.kerberos
        )

    def _credentials(self, options: SaslOptions) -> Any:
        principal, keytab = options.module.get("principal"), options.module.get("keyTab")
        name = None
        if principal:
            name = self._gssapi.Name(principal, self._gssapi.NameType.kerberos_principal)
        if keytab:
            cache = f"MEMORY:odradek-{zlib.crc32(f'{principal} {keytab}'.encode()):08x}"
            return self._gssapi.Credentials(
                usage="initiate", name=name, store={"client_keytab": keytab, "ccache": cache}
            )
        return self._gssapi.Credentials(usage="initiate", name=name) if name is not None else None

    def _layers(self, challenge: bytes) -> bytes:
        offer = self._context.unwrap(challenge).message
        if len(offer) != 4 or not offer[0] & _NO_LAYER:
            raise AuthenticationError("the broker asks for a security layer, which Kafka's protocol does not have")
        return bytes(self._context.wrap(bytes([_NO_LAYER, 0, 0, 0]), False).message)

    def _call(self, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except self._gssapi.exceptions.GSSError as error:
            raise AuthenticationError(" ".join(str(error).split())) from None


def _library() -> Any:
    try:
        import gssapi
    except ImportError:
        raise SecurityOptionError("GSSAPI needs MIT Kerberos and pip install 'odradek[gssapi]'") from None
    return gssapi
