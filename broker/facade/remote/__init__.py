"""A broker over HTTP: the client of the control API, with the methods of `KafkaBroker`.

`operations` derives the API from the methods of `BlockingBroker`; the server in `odradek.control` uses the same table.
`broker` has the broker and its handles, `transport` sends requests, `json_values` turns values into JSON and back.
State stays with the broker: snapshots, holds and undos are ids here.
"""
