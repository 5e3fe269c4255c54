"""Small studies to judge, and an engine that answers in this process."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

from judge.engines.engine import Delivery, Engine, Ready, TokenCount, load_engine
from judge.prompts.template import PromptVersion
from judge.protocol.conditions import Conditions, Run
from judge.protocol.exchange import Answer, Request
from judge.run_settings import JudgeSettings
from study import Study
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow

if TYPE_CHECKING:
    # The modules that run in vLLM's environment, which has no pytest, import this one.
    import pytest

CONTEXTS = {"bm25": ["A passage.", "Another one."], "dense": ["A third passage."]}


def store(study: Study, *rows: dict[str, Any]) -> None:
    """Store response rows as an importer would."""
    placed = []
    for number, row in enumerate(rows, 1):
        passages = tuple(PassageRow(text=text) for text in row.get("passages", ()))
        placed.append(LocatedRow(number, ResponseRow(**{**row, "passages": passages})))
    digest = blake2b(repr(rows).encode()).hexdigest()
    import_rows(study, placed, source="test", sha256=digest, importer="responses")


def fill(study: Study, queries: int = 3) -> None:
    """Store queries, each with four systems: two share a context, two give the same text.

    Systems A and B have the passages of bm25, C and D those of dense; B and D give the same text.
    """
    rows = []
    for q in range(1, queries + 1):
        for system, retriever, text in (
            ("A", "bm25", f"Answer {q} of A."),
            ("B", "bm25", f"Answer {q} of two."),
            ("C", "dense", f"Answer {q} of C."),
            ("D", "dense", f"Answer {q} of two."),
        ):
            rows.append(
                {
                    "query_id": f"q{q}",
                    "query": f"Question {q}?",
                    "references": [f"Reference {q}.", f"Answer {q} of A."],
                    "system": system,
                    "response": text,
                    "passages": [f"{p} ({q})" for p in CONTEXTS[retriever]],
                }
            )
    store(study, *rows)


def score(prompt: str) -> str:
    """Return the score that the scripted engine gives: the same for the same prompt."""
    return str(int.from_bytes(blake2b(prompt.encode(), digest_size=4).digest(), "big") % 101)


def scored(prompt: str) -> Answer:
    """Answer a prompt with its score."""
    return Answer(score(prompt))


def always(answer: Answer) -> Any:
    """Return a function for an engine's class that gives the same answer to every prompt."""

    def answered(prompt: str) -> Answer:
        del prompt
        return answer

    return staticmethod(answered)


class ScriptedSettings(JudgeSettings):
    """Settings of the scripted engine."""

    engine: Literal["scripted"] = "scripted"
    concurrency: int | None = None

    @property
    def at_once(self) -> int | None:
        return self.concurrency


class Scripted:
    """Replaces an engine: answers by a function, and records the requests."""

    settings = ScriptedSettings
    answer: Callable[[str], Answer] = staticmethod(scored)
    model = "scripted"
    window: int | None = None
    asked: list[Request]
    stop_after: int | None = None
    at_a_time = 1
    """Answers of a commit."""

    def __init__(self, settings: ScriptedSettings, study: Study, prompts: PromptVersion) -> None:
        del study, prompts
        self._settings = settings

    def start(self, sample: Sequence[str]) -> Ready:
        del sample
        conditions = Conditions(
            "scripted",
            self._settings.model or self.model,
            decoding={"temperature": self._settings.temperature},
        )
        return Ready(conditions, TokenCount(), self._settings.window or self.window)

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        del run
        answered: list[tuple[Request, Answer]] = []
        for number, request in enumerate(requests):
            if number == self.stop_after:
                raise KeyboardInterrupt
            type(self).asked.append(request)
            answered.append((request, type(self).answer(request.prompt)))
            if len(answered) == self.at_a_time:
                delivery.commit(answered)
                answered = []
        if answered:
            delivery.commit(answered)
        return ()

    def close(self) -> None:
        """There are no resources to release."""


def register(monkeypatch: "pytest.MonkeyPatch") -> type[Scripted]:
    """Return a fresh scripted engine, registered as `scripted` for the time of a test."""
    fresh = type("Fresh", (Scripted,), {"asked": []})

    def load(name: str) -> type[Engine]:
        return fresh if name == "scripted" else load_engine(name)

    for module in (
        "engines.engine",
        "running.session",
        "responding.respond",
        "responding.asked_reader",
    ):
        monkeypatch.setattr(f"judge.{module}.load_engine", load)
    return fresh
