"""How many tokens the study's text has, as the endpoint counts them."""

from collections.abc import Sequence

from judge.engines.engine import TokenCount
from judge.engines.openai.capability_requests import QUESTION, Findings, said_to, stopped
from judge.engines.openai.endpoint import Endpoint
from judge.engines.openai.truncation import SLACK
from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import Answer
from study.errors import StudyError

# A sample of about this many bytes shows how many tokens the study's text has.
_SAMPLE_BYTES = 4800


async def calibrate(
    endpoint: Endpoint, found: Findings, short: Answer, sample: Sequence[str]
) -> None:
    """Learn how many tokens the study's text has, from some of it, whole and in halves.

    The halves have together what the whole has, and what a message costs by itself once more. A
    server that counts fewer in the whole has cut it: that count is its window.
    """
    text = _slices(sample)
    if not text.strip():
        found.notes.append("No prompt was there to learn from how many tokens the text has.")
        return
    middle = len(text) // 2
    texts = [f"{QUESTION}\n\n{part}" for part in (text, text[:middle], text[middle:])]
    counts = []
    for prompt in texts:
        said = await said_to(endpoint, prompt, found)
        if isinstance(said, Trouble):
            raise StudyError(stopped(found.model, said))
        counts.append(said.prompt_tokens)
    if short.prompt_tokens is None or None in counts:
        found.notes.append(
            "The endpoint counts no tokens: prompts that it cuts would go unnoticed."
        )
        return
    whole, first, second = (count or 0 for count in counts)
    least = (first + second) * (1 - SLACK) - short.prompt_tokens
    known: tuple[int, str] | None = (whole, texts[0])
    if whole < least:
        found.window = min(whole, found.window or whole)
        found.notes.append(
            f"The server cuts prompts to {whole} tokens without a word. Give it a larger window "
            "(Ollama: num_ctx), or judge what fits."
        )
        # A half may be cut as well: then nothing is known but the window.
        known = (first, texts[1]) if first < whole else None
    if known is not None:
        found.tokens = TokenCount.fitted(
            (len(QUESTION.encode()), short.prompt_tokens),
            (len(known[1].encode()), known[0]),
            len(known[1]) / len(known[1].encode()),
        )
    if not found.tokens.calibrated:
        found.notes.append(
            "The endpoint's token counts do not grow with the prompt: prompts that it cuts would "
            "go unnoticed."
        )


def _slices(sample: Sequence[str]) -> str:
    """Return pieces of the middle of several prompts, so that no single one decides."""
    share = _SAMPLE_BYTES // max(1, len(sample))
    pieces = []
    for prompt in sample:
        start = max(0, len(prompt) // 2 - share // 2)
        pieces.append(prompt[start : start + share])
    return "\n\n".join(pieces)
