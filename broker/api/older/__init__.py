"""What releases before 4.0 do otherwise in the versions of requests that 4.0 removed (KIP-896).

A handler's registration names a function here. Given the handler, a version and a release, it returns what serves the
version: the handler itself, or a function around it. It is asked once for each version, and never as a release that has
no such versions.
"""
