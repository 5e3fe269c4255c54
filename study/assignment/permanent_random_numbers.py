"""Permanent random numbers: every unit has one of its own, whatever else the study holds.

Those with the smallest numbers are the sample, so that a larger sample contains a smaller one and
the order of imports changes nothing (Ohlsson 1995, coordination of samples using permanent random
numbers).
"""

from study.schema.content import digest


def permanent_number(seed: int, *names: str) -> float:
    """Return the number, from 0 up to but not 1, that these names have under a seed."""
    state = digest(str(seed).encode(), *(name.encode() for name in names))
    # As many bits as a float holds exactly.
    return (int.from_bytes(state[:8], "big") >> 11) * 2.0**-53
