"""Responses of a study whose texts may hold instructions to a judge."""

from dataclasses import asdict, dataclass
from typing import Any

from judge.inspect.run_metric import run_metric
from judge.running.injection_detection import control_tokens, labels_of, suspicions
from judge.running.pages import pages, places
from judge.running.runs import run_of
from judge.text import printable
from study.errors import StudyError
from study.facts.current_responses import current_responses
from study.study import Study

_WORDS = 100


@dataclass(frozen=True)
class Suspect:
    """One sign in one text."""

    response_id: str
    where: str
    """response, or passage and its place."""
    sign: str
    """instruction, score_line, heading or control_tokens."""
    words: str

    def line(self) -> str:
        """Return it as a line of text, without control characters."""
        words = " ".join(self.words.split())
        short = words if len(words) <= _WORDS else f"{words[:_WORDS]}..."
        return printable(f"{self.response_id}, {self.where}: {self.sign}: {short}")

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)


def list_suspects(study: Study, name: str) -> list[Suspect]:
    """Return what in the study's responses and passages may be meant for a run's judge.

    The texts are looked at anew, also for runs made before they were flagged. A suspicion, no
    more: nothing is left out of a run or a report for it.

    Raises
    ------
    StudyError
        The study has no such run, or its prompts are not at hand.
    """
    with study.read() as connection:
        run = run_of(connection, name)
        ids = {one.id: one.response_id for one in current_responses(connection)[0]}
    metric = run_metric(run, study.folder)
    if metric is None or metric.prompts is None:
        raise StudyError(
            f"The prompts of the run {name!r} are not at hand, whose headings are looked for."
        )
    labels = labels_of(metric.prompts)
    found: list[Suspect] = []
    for page in pages(study, places(study), None, texts=True):
        of_context: dict[bytes, list[tuple[str, str, str]]] = {}
        for content in page.contents:
            held = of_context.get(content.context_hash)
            if held is None:
                held = of_context[content.context_hash] = [
                    (f"passage {place}", *sign)
                    for place, text in enumerate(content.passages or (), 1)
                    for sign in _signs(text, labels)
                ]
            own = [("response", *sign) for sign in _signs(content.text, labels)]
            found += [Suspect(ids[content.id], *sign) for sign in (*own, *held)]
    return found


def _signs(text: str, labels: tuple[str, ...]) -> list[tuple[str, str]]:
    tokens = control_tokens(text)
    return [
        *((sign.sign, sign.words) for sign in suspicions(text, labels)),
        *([("control_tokens", tokens)] if tokens else []),
    ]


def suspect_lines(found: list[Suspect]) -> list[str]:
    """Return the list as lines of text."""
    responses = len({one.response_id for one in found})
    if not found:
        return ["No response or passage holds what may be an instruction to a judge."]
    return [
        *(one.line() for one in found),
        f"{responses} responses hold, or were given, what may be an instruction to a judge or a "
        "control token. A suspicion, no more: nothing is left out for it.",
    ]
