"""Listing the responses and passages that may contain instructions to a judge."""

from dataclasses import dataclass

from judge.running.pages import pages, places
from judge.running.runs import run_metric, run_of
from judge.running.shown_texts import control_tokens, labels_of, suspicions
from judge.text import Result, printable
from study.errors import StudyError
from study.facts.current_responses import current_responses
from study.study import Study
from study.text import counted

_WORDS = 100


@dataclass(frozen=True)
class Suspect(Result):
    """A detection in a text."""

    response_id: str
    where: str
    """response, or passage and its rank."""
    sign: str
    """instruction, score_line, heading or control_tokens."""
    words: str

    def line(self) -> str:
        """Return the detection as a line of text, without control characters."""
        words = " ".join(self.words.split())
        short = words if len(words) <= _WORDS else f"{words[:_WORDS]}..."
        return printable(f"{self.response_id}, {self.where}: {self.sign}: {short}")


def list_suspects(study: Study, name: str) -> list[Suspect]:
    """Return the parts of responses and passages that may be addressed to a run's judge.

    Each is only a suspicion: no text is left out of a run or a report because of it.

    Raises
    ------
    StudyError
        The study has no run of this name, or the prompts of the run are not installed.
    """
    with study.read() as connection:
        run = run_of(connection, name)
        ids = {response.id: response.response_id for response in current_responses(connection)[0]}
    metric = run_metric(run, study.folder)
    if metric is None or metric.prompts is None:
        raise StudyError(
            f"The prompts of the run {name!r} are neither installed nor in the study, so their "
            "headings cannot be searched for."
        )
    labels = labels_of(metric.prompts)
    suspects: list[Suspect] = []
    for page in pages(study, places(study), None, texts=True):
        by_context: dict[bytes, list[tuple[str, str, str]]] = {}
        for content in page.contents:
            in_passages = by_context.get(content.context_hash)
            if in_passages is None:
                in_passages = by_context[content.context_hash] = [
                    (f"passage {rank}", *sign)
                    for rank, text in enumerate(content.passages or (), 1)
                    for sign in _signs(text, labels)
                ]
            in_response = [("response", *sign) for sign in _signs(content.text, labels)]
            suspects += [Suspect(ids[content.id], *sign) for sign in (*in_response, *in_passages)]
    return suspects


def _signs(text: str, labels: tuple[str, ...]) -> list[tuple[str, str]]:
    tokens = control_tokens(text)
    return [
        *((sign.sign, sign.words) for sign in suspicions(text, labels)),
        *([("control_tokens", tokens)] if tokens else []),
    ]


def suspect_lines(suspects: list[Suspect]) -> list[str]:
    """Return the list as lines of text."""
    responses = len({suspect.response_id for suspect in suspects})
    if not suspects:
        return [
            "No response or passage has one of the known signs of an instruction to a judge. They "
            "are few and English: most instructions in other words are not found."
        ]
    return [
        *(suspect.line() for suspect in suspects),
        f"{counted(responses, 'response')} may contain, in text or passages, an instruction to a "
        "judge or a control token. This is only a suspicion: no text is left out because of it.",
    ]
