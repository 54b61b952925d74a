"""One request on its way: route, context, rights, faults, error answers, and what is kept of it.

A frame enters `Dispatcher.begin`, and the encoded answer leaves, or a `Pending` for a request that has to wait. The
dispatcher looks up the route of (key, version), reads the header and decodes the body. Unknown keys and versions and
bodies that cannot be decoded close the connection. ApiVersions alone is answered with version 0 (KIP-511).

Waiting. A handler that has to wait returns a coroutine or a `Parked`, so requests that need not wait use neither. A
coroutine starts a little later, when other requests may have been served. A `Parked` needs no task: it registers for
changes before the handler returns, and is asked again when it is woken or its deadline has come.

Length. A request with many elements is not decoded at once: `finish` serves it in its turn, in slices, so that others
are served meanwhile (`long_requests`).

Errors. A `KafkaError` becomes the error at the level where the API carries it: `error_answers` is the only place that
knows which response list repeats which request list. Any other exception is a bug: the client gets
UNKNOWN_SERVER_ERROR, `BugLog` keeps the traceback and the last requests, and the pytest plugin fails the test.

Rights. Each handler is registered with the rights that its API needs (`handlers`). A cluster without an authorizer runs
the plain handlers: the dispatcher chooses the function when it makes a route, so no request pays for a check.

The transcript. `RecentRequests` keeps plain values and the bytes of the frame and of the answer. Nothing is decoded
until somebody looks (`broker/transcript`). Records of large messages are not copied.

`Services` has the parts of a cluster that handlers use; it owns none of them.
"""
