"""How few of the prompts' tokens must be computed, given the beginnings that prompts share.

An engine that caches the beginnings of prompts computes only the rest of each. It reuses whole
blocks of tokens, and always computes the last token of a prompt, whose output is needed.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from judge.engines.engine import Delivery

# Blocks that are remembered: more than fit into the cache of any GPU; 50 MB here.
_MOST_BLOCKS = 2**18


@dataclass
class PrefixReuse:
    """Counts tokens of prompts: all, those reused by the engine, and those that were reusable."""

    block: int
    """Tokens of a block."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Reused, as the engine reports."""
    shared_tokens: int = 0
    """In whole blocks with which earlier prompts begin."""
    _blocks: OrderedDict[int, None] = field(default_factory=OrderedDict)

    def add_prompt(self, tokens: Sequence[int]) -> int:
        """Count a prompt, in the order in which prompts are asked; return its shared tokens."""
        self.prompt_tokens += len(tokens)
        shared, is_known = 0, True
        key = 0
        for start in range(0, len(tokens) - self.block + 1, self.block):
            key = hash((key, tuple(tokens[start : start + self.block])))
            if key in self._blocks:
                self._blocks.move_to_end(key)
                # Of a prompt that is asked again, the last block is computed again.
                shared += is_known and start + self.block < len(tokens)
            else:
                is_known = False
                self._blocks[key] = None
                if len(self._blocks) > _MOST_BLOCKS:
                    self._blocks.popitem(last=False)
        self.shared_tokens += shared * self.block
        return shared * self.block

    def add(self, prompt_tokens: int, cached_tokens: int, shared_tokens: int) -> None:
        """Add the counts of another engine, which has its own cache."""
        self.prompt_tokens += prompt_tokens
        self.cached_tokens += cached_tokens
        self.shared_tokens += shared_tokens

    def reset(self) -> "PrefixReuse":
        """Return the counts and start again from 0; the prompts so far stay known."""
        counts = PrefixReuse(self.block, self.prompt_tokens, self.cached_tokens, self.shared_tokens)
        self.prompt_tokens = self.cached_tokens = self.shared_tokens = 0
        return counts

    @property
    def recomputed(self) -> float:
        """Share of the prompts' tokens that was computed."""
        return 1 - self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    @property
    def least(self) -> float:
        """Smallest share that an engine with such blocks can compute, in this order of prompts."""
        return 1 - self.shared_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    def report(self, delivery: Delivery) -> tuple[str, ...]:
        """Store both shares as figures of the engine, and return them as a sentence."""
        if not self.prompt_tokens:
            return ()
        delivery.measured({"recomputed": self.recomputed, "least_recomputed": self.least})
        return (self.line(),)

    def line(self) -> str:
        """Return both shares as a sentence."""
        return (
            f"Of {self.prompt_tokens:,} prompt tokens {self.recomputed:.1%} were computed; the "
            f"least possible for these prompts in blocks of {self.block} is {self.least:.1%}."
        )
