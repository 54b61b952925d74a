"""The duel: random conversations with odradek and with a real Kafka, which must answer alike.

    make duel WAY=odd REQUESTS=10000 SEED=7     (or: python -m tests.conformance.duel --way odd --requests 10000)
    python -m tests.conformance.duel --replay build/duel/7-12.txt

Each difference is shrunk to the fewest requests that show it, and printed as a conversation: one step a line,
`[number, connection, API, version, body]`. `--kafka HOST:PORT` and `--odradek HOST:PORT` take brokers that run already
with the configuration of `targets.CONFIG`; `--skip FILE` leaves out kinds that match one of its patterns.

`ways` says what is drawn, `recipes` and `meaning` the values, `known` which differences are intended.
"""
