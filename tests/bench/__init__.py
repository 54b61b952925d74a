"""``python -m tests.bench`` (``make bench``): odradek beside a real Kafka, in one run."""
