"""Guards: access control for the APIs on the hot path, in clusters with an authorizer.

A guard is called in place of its handler. It removes the topics that the client may not use, calls the handler with
the rest, and adds the errors to the answer. Guards own no state.
"""
