"""How odradek's own clients log in: TLS and SASL, from the options that the Java client and librdkafka take.

`ClientSecurity.parse` reads the options, `odradek.wire_client` uses the result. Nothing here knows a broker: it is
built on the protocol and the standard library. PKCS12 stores and GSSAPI need packages of their own, which are imported
when an option asks for them.
"""

from __future__ import annotations

from odradek.client_security.errors import AuthenticationError as AuthenticationError
from odradek.client_security.errors import ConnectionClosed as ConnectionClosed
from odradek.client_security.errors import SecurityOptionError as SecurityOptionError
from odradek.client_security.errors import TlsError as TlsError
from odradek.client_security.errors import WireError as WireError
from odradek.client_security.options import ClientSecurity as ClientSecurity
