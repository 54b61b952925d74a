"""Chaos: faults that a seed draws and applies to a running cluster.

A seed enters and a schedule of faults leaves (`drawing`, `schedule`); `course` applies it and undoes what lasts;
`trials` finds the few faults that a failure needs. A `Chaos` owns the course of its last run.
"""
