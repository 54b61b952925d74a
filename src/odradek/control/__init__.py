"""The control API: a running broker over HTTP, with an OpenAPI document and a page.

Requests enter `application`, which runs them through `calls`; JSON, or `streams` of JSON lines, leave. The operations
are those of `broker/facade/remote/operations`. The server owns the handles (undos, holds, snapshots) and the forks that
requests have created.
"""
