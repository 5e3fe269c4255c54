"""The prompts of systems: which are open, which fit the reader's window, and their requests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from judge.engines.engine import Ready
from judge.prompts.step_prompts import StepPrompts
from judge.protocol.exchange import Answer, Request
from judge.responding.corpus import CorpusQuery
from judge.responding.reader_prompt import STEP, filled, prompt_hash
from judge.responding.retrieved import Retrieved
from judge.run_settings import JudgeSettings
from study.errors import StudyError
from study.importing.rows import PassageRow
from study.settings.scorer_sections import SystemSpec


@dataclass(frozen=True)
class AnsweringSystem:
    """A system with what it retrieved and the prompt of each query."""

    name: str
    spec: SystemSpec
    prompts: StepPrompts
    retrieved: Retrieved
    questions: Sequence[CorpusQuery]

    def passages(self, place: int) -> list[PassageRow]:
        """Return the passages for the query at this place, the best first."""
        chunks = self.retrieved.chunks
        found = (chunks[each.chunk] for each in self.retrieved.rankings[place])
        return [PassageRow(text=chunk.text, document=chunk.document) for chunk in found]

    def prompt(self, place: int) -> str:
        """Return the prompt of the query at this place."""
        ranking = self.retrieved.rankings[place]
        texts = [self.retrieved.chunks[each.chunk].text for each in ranking]
        return filled(self.prompts, self.questions[place].text, texts)


class AskedPrompt(NamedTuple):
    """A prompt, by one of the systems that have it."""

    system: AnsweringSystem
    place: int
    """Of the query."""


def systems_by_reader(
    made: Iterable[AnsweringSystem],
) -> dict[tuple[str, str], list[AnsweringSystem]]:
    """Return the systems by reader and prompt: their prompts are asked together."""
    groups: dict[tuple[str, str], list[AnsweringSystem]] = {}
    for each in made:
        groups.setdefault((each.spec.reader or "", each.prompts.hash), []).append(each)
    return groups


def open_prompts(
    systems: Sequence[AnsweringSystem], known: Mapping[str, Answer], limit: int | None
) -> list[AskedPrompt]:
    """Return the prompts without an answer, each once, up to a limit."""
    found: dict[str, AskedPrompt] = {}
    for each in systems:
        for place in range(len(each.questions)):
            digest = prompt_hash(each.prompt(place))
            if digest not in known:
                found.setdefault(digest, AskedPrompt(each, place))
    return list(found.values())[:limit]


def by_length(
    asked: Sequence[AskedPrompt], ready: Ready, settings: JudgeSettings, reader: str
) -> tuple[list[AskedPrompt], list[AskedPrompt]]:
    """Return the prompts that fit the model's window, and those beyond it.

    Raises
    ------
    StudyError
        Some are beyond it, and `--skip-too-long` does not permit it.
    """
    fitting: list[AskedPrompt] = []
    beyond: list[AskedPrompt] = []
    for each in asked:
        fits = _fits(each.system.prompt(each.place), ready)
        (fitting if fits else beyond).append(each)
    if beyond and not settings.skip_too_long:
        first = beyond[0]
        raise StudyError(
            f"{len(beyond):,} prompts and their answers exceed the window of {reader} "
            f"({ready.window:,} tokens), such as that of the system {first.system.name} to the "
            f"query {first.system.questions[first.place].id!r}. Give the reader fewer or shorter "
            "passages, lower --max-tokens, or leave such queries without a response by "
            "--skip-too-long."
        )
    return fitting, beyond


def _fits(prompt: str, ready: Ready) -> bool:
    return ready.fits(len(prompt.encode()), lambda: (prompt,))


def reader_requests(asked: Iterable[AskedPrompt]) -> Iterator[Request]:
    for number, each in enumerate(asked, 1):
        question = each.system.questions[each.place].id
        prompt = each.system.prompt(each.place)
        yield Request(STEP, 0, (number,), (1,), prompt, group=f"{question} {number}")
