"""An endpoint for tests: it speaks OpenAI's chat completions, and fails on request.

It runs in a process of its own (`python -m tests.judge.stub --port 0`), on the loopback only, and
never calls anything. `tests.judge.stub.process.running_stub` starts one and talks to it.

The score of a prompt is a function of its text (`tests.judge.stub.completions.score`), so a test
knows what must be stored. What goes wrong is a list of rules, each a behaviour of
`tests.judge.stub.behaviours` with its options and with the requests that it applies to:

    {"behaviour": "throttled", "form": "seconds", "wait": 1, "when": {"first": 3}}

The rules are switched while it runs. Its log records what was asked, when, and among how many.
"""
