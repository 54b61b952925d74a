"""The files of a partition's folder: names, batches, indexes. Bytes of a file enter, values leave. No I/O, no state,
and no rule of a log.
"""
