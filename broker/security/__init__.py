"""Principals, access control, SASL, TLS and quotas.

The authorizer and the quotas follow the metadata image. A log-in enters through `sasl`, a handshake through `tls`; a
`Principal` leaves. `Denials` owns the last refusals.
"""
