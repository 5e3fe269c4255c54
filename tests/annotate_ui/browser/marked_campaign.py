"""A campaign whose every text holds a word of its own, so that a byte sent too early is seen."""

from pathlib import Path
from uuid import uuid4

from study import Study
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from tests.annotate_ui.rated_campaign import give

_QUESTIONS = (
    "When is the municipal pool open on public holidays, and is the sauna included?",
    "Which river flows through the old town, and when did it last flood the market square?",
    "Who wrote the city's first charter?",
)
_SENTENCE = (
    "The opening hours follow the calendar of the city council, which is renewed each spring and "
    "posted at the entrance, at the counter and on the notice board in the town hall. "
)


def question(query: int) -> str:
    """Return the word that only the question of a query holds."""
    return f"questionword{query}"


def response(query: int, system: int) -> str:
    """Return the word that only this response holds."""
    return f"responseword{query}x{system}"


def passage(query: int, system: int, position: int) -> str:
    """Return the word that only this passage holds."""
    return f"passageword{query}x{system}x{position}"


def reference(query: int) -> str:
    """Return the word that only the reference of a query holds, the one that the judge sees."""
    return f"referenceword{query}"


def fill(study: Study, queries: int = 3, systems: int = 2, passages: int = 3) -> None:
    """Store queries, responses with their passages, and two references for each query."""
    rows = [
        LocatedRow(
            q * systems + s + 1,
            ResponseRow(
                query_id=f"q{q}",
                query=f"{_QUESTIONS[q % 3]} ({question(q)})",
                system=f"secretsystem{s}",
                response=f"{_SENTENCE}It says {response(q, s)}. {_SENTENCE * (1 + s)}",
                passages=tuple(
                    PassageRow(text=f"{_SENTENCE} {passage(q, s, p)} {_SENTENCE * 4}")
                    for p in range(passages)
                ),
                references=(f"From 8 to 20, says {reference(q)}.", f"8:00-20:00 {reference(q)}x1"),
            ),
        )
        for q in range(queries)
        for s in range(systems)
    ]
    import_rows(study, rows, source="test", sha256=uuid4().hex, importer="responses")


def served_at(study: Study, address: str, rating: str = "") -> Study:
    """Name the address of the pages in study.toml, with further settings, and open it anew."""
    folder: Path = study.folder
    with (folder / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(f'\n[rating]\nbase_url = "{address}"\n{rating}\n')
    study.close()
    return Study.open(folder)


__all__ = ["fill", "give", "passage", "question", "reference", "response", "served_at"]
