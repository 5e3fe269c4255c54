"""How little of a workload must be computed: the beginnings that its prompts share.

An engine that keeps the beginnings of prompts computes the rest of each: whole blocks of tokens
can be found again, and the last token of a prompt never (its output is needed).
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

# Blocks that are remembered: more than any cache on a GPU holds, and 50 MB here.
_REMEMBERED = 2**18


@dataclass
class Reuse:
    """Tokens of prompts, those that were found again, and those that could have been."""

    block: int
    """Tokens of a block."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """That the engine says it found again."""
    shared_tokens: int = 0
    """In whole blocks that earlier prompts began with."""
    _seen: OrderedDict[int, None] = field(default_factory=OrderedDict)

    def asked(self, tokens: Sequence[int]) -> int:
        """Count a prompt, in the order in which prompts are asked; return its shared tokens."""
        self.prompt_tokens += len(tokens)
        found, still = 0, True
        key = 0
        for start in range(0, len(tokens) - self.block + 1, self.block):
            key = hash((key, tuple(tokens[start : start + self.block])))
            if key in self._seen:
                self._seen.move_to_end(key)
                # Of a prompt that was asked before, the last block is computed again.
                found += still and start + self.block < len(tokens)
            else:
                still = False
                self._seen[key] = None
                if len(self._seen) > _REMEMBERED:
                    self._seen.popitem(last=False)
        self.shared_tokens += found * self.block
        return found * self.block

    def answered(self, cached: int | None) -> None:
        """Count what the engine found again of a prompt."""
        self.cached_tokens += cached or 0

    def add(self, prompt_tokens: int, cached_tokens: int, shared_tokens: int) -> None:
        """Count what another process asked of an engine of its own."""
        self.prompt_tokens += prompt_tokens
        self.cached_tokens += cached_tokens
        self.shared_tokens += shared_tokens

    def taken(self) -> "Reuse":
        """Return what was counted, and begin to count anew; what was asked stays known."""
        counted = Reuse(self.block, self.prompt_tokens, self.cached_tokens, self.shared_tokens)
        self.prompt_tokens = self.cached_tokens = self.shared_tokens = 0
        return counted

    @property
    def recomputed(self) -> float:
        """Share of the prompts' tokens that was computed."""
        return 1 - self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    @property
    def least(self) -> float:
        """Share that no engine with such blocks could have left out, in this order."""
        return 1 - self.shared_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    def line(self) -> str:
        """Return both shares as a sentence."""
        return (
            f"Of {self.prompt_tokens:,} prompt tokens {self.recomputed:.1%} were computed; the "
            f"least possible for these prompts in blocks of {self.block} is {self.least:.1%}."
        )
