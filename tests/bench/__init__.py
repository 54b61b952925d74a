"""``python -m tests.bench`` (``make bench``): odradek beside a real Kafka and kfake, in one run."""
