"""Errors between a client and a broker apart from the requests themselves."""

from __future__ import annotations


class WireError(ConnectionError):
    """The broker cannot be reached, cut the connection, or does not serve what is needed."""


class ConnectionClosed(WireError):
    """The broker closed the connection where an answer was due."""


class ApiNotServed(WireError):
    """The broker serves no version of an API that is known here. It will not when it is asked again."""


class TlsError(WireError):
    """No TLS connection came about: a certificate that is not trusted, a name that is not in it, no common version."""


class AuthenticationError(WireError):
    """The broker refused the log-in, or the client does not trust the broker's part of it."""


class SecurityOptionError(ValueError):
    """A security option is unknown, missing, contradictory or malformed. Never shows a secret."""
