"""The verbs of a broker: the methods that change something or wait.

They are written once, here, as methods to await. `facade/generated/blocking` has the same methods without ``await``,
and `facade/remote` makes requests over HTTP of those. A verb owns no state: it calls a function of another facade
module in the broker's thread.
"""
