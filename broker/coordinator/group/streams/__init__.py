"""Groups of Kafka Streams applications (KIP-1071): tasks instead of partitions, and a topology for the group."""
