"""A schema registry beside the broker, with the REST API of Confluent's. Needs ``odradek[registry]``. The broker does
not know it.

A request goes from `application` through `endpoints` to `Registry.look` or `Registry.change`. `decisions` are
functions of a state and a request: they return records to append and the answer. `state` is what the records of
`_schemas` say, and only `replay` changes it. Both are pure, so their tests need no broker.

`Registry` owns the state. Before each request it reads the new records of the log (`facade/records/state_log`) into
a copy of it, so that each request decides on a state that nobody changes, however long it takes. Only reading and
appending hold a lock. An append is refused if the log has more than was decided on, and the request is decided again;
so two registries on one log are safe. A log with another topic id or leader epoch (a
restore, a reset) is read from its beginning into a new state.

What a schema costs nobody knows before: `effort` ends parsers and comparisons that take too long.

`formats` has a module for each language of schemas: its canonical text, and whether one schema reads what another
wrote. `levels` says which schemas have to be compatible. `HttpThread` serves the API, like the control API, in a
thread with a trio run of its own.
"""
