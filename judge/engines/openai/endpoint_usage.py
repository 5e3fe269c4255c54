"""What an endpoint was asked, and how many tokens its answers took, as it counted them."""

from collections import Counter

from judge.protocol.exchange import TOKENS, Answer


class Tally(Counter[str]):
    """`calls` and tokens by name; a name is there once an answer told it."""

    def add(self, answer: Answer | None) -> None:
        """Count a call, and the tokens of its answer if it brought one."""
        self["calls"] += 1
        if answer is None:
            return
        for name in TOKENS:
            told = getattr(answer, f"{name}_tokens")
            if told is not None:
                self[name] += told

    def take_back(self, answer: Answer) -> None:
        """Count an answer no more."""
        other = Tally()
        other.add(answer)
        self.subtract(other)
