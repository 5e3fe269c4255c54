"""A tiny random language model that answers scores, and a server for it: real inference in tests.

Both scripts run in an environment of their own (requirements.txt), since torch is not among the
project's dependencies. The answers mean nothing.
"""
