"""A broker over HTTP: the client of the control API, with the methods of `KafkaBroker`.

`operations` derives the API from the methods of `BlockingBroker`; the server in `odradek.control` uses the same table.
`transport` sends requests, `encoding` and `decoding` turn values into JSON and back, `handles` are the objects that
methods return. State stays with the broker: snapshots, holds and undos are ids here.
"""
