"""Timings, apart from the tests: a machine's noise must not fail a test.

`python -m tests.benchmarks` lists the scripts, `python -m tests.benchmarks NAME` runs one.
"""
