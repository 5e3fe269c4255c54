"""The very prompt once more: how far scores move where nothing was altered.

The other shifts are to be read beside this one. At temperature 0 it is the noise of batching and of
the server.
"""

from judge.metrics.metric import Content
from judge.perturbations.perturbation import Change, Probe


def _again(_content: Content) -> Change:
    return Change()


PROBES = (Probe("again", "again", "either", False, _again),)
