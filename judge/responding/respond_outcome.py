"""The result of `ccrs respond`, as lines and as JSON."""

from dataclasses import dataclass, field

from judge.responding.reader_prompt import TAGGED
from judge.running.forecast import Forecast
from judge.text import Result
from study.text import counted

_NAMED = 5
"""Files of documents that are named in text."""


@dataclass
class SystemResponses:
    """The responses of one system."""

    ranking: str
    """File of its rankings, in the study's folder."""
    answers: str
    """File of its reader's answers."""
    prompt: str
    """Version of its prompt."""
    responses: int = 0
    open: int = 0
    """Queries whose prompt has no answer yet."""
    added: int = 0
    """Responses that this call stored in the study."""
    rules: dict[str, int] = field(default_factory=dict)
    """How responses were read from answers: `tagged` or `whole`."""
    cut: int = 0
    """Responses whose answer was cut at the limit of tokens."""
    missing: dict[str, int] = field(default_factory=dict)
    """Queries that stay without a response, by reason."""


@dataclass
class RespondOutcome(Result):
    """What `respond_study` did, or would do."""

    dry_run: bool
    queries: int
    documents: int
    files: list[str]
    """Names of the files of documents."""
    passages: dict[str, int]
    """Passages into which the documents were cut, by the settings of the cut."""
    systems: dict[str, SystemResponses] = field(default_factory=dict)
    prompts: int = 0
    """Prompts to ask when the call began, each once, whichever systems have it."""
    answered: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    """Prompts without an answer, by reason; the next call asks them again."""
    prompt_tokens: int = 0
    answer_tokens: int = 0
    """Of a dry run: estimates, of answers the most that they may have."""
    cost: float | None = None
    forecast: dict[str, Forecast | None] = field(default_factory=dict)
    """Of an estimate: what the other prompts of each reader will take; None without counts."""
    notes: list[str] = field(default_factory=list)

    @property
    def falls_short(self) -> bool:
        """Whether prompts stay without an answer although they were asked."""
        return bool(self.failed)

    def lines(self) -> list[str]:
        """Return the result as lines of text."""
        cut = ", ".join(f"{count:,} ({sizes})" for sizes, count in self.passages.items())
        more = len(self.files) - _NAMED
        files = ", ".join(self.files[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        documents = f"{counted(self.documents, 'document')} from {files}"
        lines = [f"{counted(self.queries, 'query', 'queries')}, {documents}, passages: {cut}."]
        if self.dry_run:
            lines += [
                f"Prompts to ask: {self.prompts:,}",
                *([f"Answered by the files: {self.answered:,}"] if self.answered else []),
                f"Prompt tokens: about {self.prompt_tokens:,} (at four bytes each)",
                f"Answer tokens: at most {self.answer_tokens:,}",
                *([] if self.cost is None else [f"Cost: at most about {self.cost:,.2f}"]),
            ]
            lines += [f"{name}: {each.ranking}" for name, each in self.systems.items()]
            lines += [*self.notes, "No prompt was sent; rankings are kept, and nothing else."]
            return lines
        lines.append(
            f"{self.answered:,} of {counted(self.prompts, 'prompt was', 'prompts were')} answered. "
            f"With the engine's own requests: {counted(self.prompt_tokens, 'token')} of prompts, "
            f"{self.answer_tokens:,} of answers"
            + ("." if self.cost is None else f", cost {self.cost:,.2f}.")
        )
        lines += [f"{name}: {_in_words(each)}" for name, each in self.systems.items()]
        lines += [f"Without an answer: {n:,} {reason}" for reason, n in self.failed.items()]
        for reader, forecast in self.forecast.items():
            lines.append(f"Reader {reader}:")
            lines += (
                ["  no forecast, since no answer has a count of tokens"]
                if forecast is None
                else [f"  {line}" for line in forecast.lines()]
            )
        return [*lines, *self.notes]


def _in_words(system: SystemResponses) -> str:
    parts = [f"{counted(system.responses, 'response')} ({system.added:,} new) by {system.prompt}"]
    whole = system.responses - system.rules.get(TAGGED, 0)
    parts += [f"taken as a whole, without <answer>: {counted(whole, 'answer')}"] if whole else []
    parts += [f"cut at the limit of tokens: {system.cut:,}"] if system.cut else []
    parts += [
        f"{counted(n, 'query', 'queries')} without a response: {why}"
        for why, n in system.missing.items()
    ]
    parts += [f"{counted(system.open, 'prompt')} still to ask"] if system.open else []
    return f"{'; '.join(parts)}. Rankings: {system.ranking}."
