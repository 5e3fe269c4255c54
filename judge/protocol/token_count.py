"""How many tokens a prompt has, judged by its length before anything is asked."""

from dataclasses import dataclass

# English prose has between four and five bytes a token with the tokenizers in use.
_BYTES_A_TOKEN = 4.0


@dataclass(frozen=True)
class TokenCount:
    """An estimate of tokens from bytes: a line, fitted to what the server counted.

    Without a calibration it is a rule of thumb, and `calibrated` is False.
    """

    base: float = 0.0
    per_byte: float = 1 / _BYTES_A_TOKEN
    calibrated: bool = False
    density: float = 1.0
    """Characters a byte of the text that it was fitted to: 1 for English, a third for Thai."""

    @classmethod
    def fitted(
        cls, short: tuple[int, int], long: tuple[int, int], density: float = 1.0
    ) -> "TokenCount":
        """Fit the line through two prompts, each given as (bytes, tokens counted).

        Counts that do not grow with the prompt tell nothing: then the rule of thumb stays.
        """
        (short_bytes, short_tokens), (long_bytes, long_tokens) = short, long
        if long_bytes <= short_bytes or long_tokens < 1.5 * short_tokens:
            return cls()
        per_byte = (long_tokens - short_tokens) / (long_bytes - short_bytes)
        return cls(
            short_tokens - per_byte * short_bytes, per_byte, calibrated=True, density=density
        )

    def estimate(self, size: int) -> float:
        """Return the tokens of a prompt of this many bytes."""
        return max(0.0, self.base + self.per_byte * size)
