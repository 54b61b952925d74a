"""The files of a partition's folder: names, batches, indexes. It reads bytes, and knows no rule of a log."""
