"""A broker over HTTP: the client of the control API, with the methods of `KafkaBroker`.

`operations` derives the API from the methods of `BlockingBroker`; the server in `odradek.control` uses the same table.
`transport` sends requests, `json_values` turns values into JSON and back, `handles` are the objects that
methods return. State stays with the broker: snapshots, holds and undos are ids here.
"""
