"""The jobs of the pipeline: a module for each, and the modules that they share.

A job takes a Spark session and its options, and returns or writes tables. Its durable state is in files beside Spark's
checkpoint (`state_folder`) and in the topics that it writes.
"""
