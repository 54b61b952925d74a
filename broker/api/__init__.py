"""The request handlers: one module for each family of APIs.

A decoded request enters a handler, and a response leaves. The handler translates a request into a command or a look at
the image, and the result into a response. Rules are in the controller, the partitions and the coordinators. Handlers
own no state. `generated/index` says which module serves which versions of which API. A module is imported with the
first request for one of its APIs. What the broker advertises comes from the same index.
"""
