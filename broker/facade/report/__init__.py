"""Reports: the state of a broker as text, likely causes of a test failure, and strictness findings.

A `Situation` enters: plain values, taken from a running broker or over the wire. Text and findings leave. Nothing here
owns state or changes the broker.
"""
