"""Principals, access control, SASL, TLS and quotas.

A log-in enters through `sasl`, a handshake through `tls`; a `Principal` leaves. Users, tokens, access control entries
and quotas are records of the metadata log: the authorizer and the quotas follow the image as publishers. `Denials`
owns the last 1,000 refusals; a refusal that only filters a list is not recorded.

`authorizer` has the rules of access control. There is none (`services.authorizer` is None) where
`authorizer.class.name` is empty. `broker/requests/handlers.py` says which rights an API needs: `OPEN` none,
`Whole(operation)` one on the cluster, `ByItem(...)` rights on what the request names. Most handlers ask
`ctx.allows(operation, resource, name)`. Produce, Fetch and Metadata have a guard instead (`guarded_produce`).
"""
