"""WikiEval's columns: responses, implied preferences, GPT Score and GPT Ranking end to end.

The items are made up for these tests, in the columns of the data set, except for those that the
paper prints.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select

from analysis.cli.read_study import from_study
from analysis.pipeline.estimation import analyse
from judge import compare_pairs, judge_study
from judge.protocol.exchange import Answer
from study import InputError, Study, import_file
from study.schema.tables import responses
from tests.judge.small_studies import ScriptedSettings, register

MANUAL = Path(__file__).parents[3] / "data/manual/wikieval.md"
SETTINGS = re.search(r"```toml\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
ITEMS = [
    {
        "question": f"When was the {name} opened?",
        "source": name,
        "answer": f"The {name} was opened in {year}.",
        "ungrounded_answer": f"The {name} was opened in {year}, by the mayor.",
        "poor_answer": "It was opened by somebody.",
        "context_v1": [f"The {name} is a bridge. It was opened in {year}."],
        "context_v2": [f"The {name} is a bridge. It was opened in {year}.", "Bridges are old."],
    }
    for name, year in (("North Bridge", 1901), ("South Bridge", 1911), ("Old Bridge", 1921))
]


# The examples in tables 2 to 4 of Es et al. (arXiv 2309.15217, CC BY 4.0). Each table prints one
# pair of an item; texts that begin with MADE_UP are not from the data set.
MADE_UP = "Made up:"
_TOWER = (
    "The Chimnabai Clock Tower, also known as the Raopura Tower, is a clock tower situated in the "
    "Raopura area of Vadodara, Gujarat, India. It was completed in 1896 and named in memory of "
    "Chimnabai I (1864–1885), a queen and the first wife of Sayajirao Gaekwad III of Baroda State."
)
PRINTED = [
    {
        "question": "Who directed the film Oppenheimer and who stars as J. Robert Oppenheimer in "
        "the film?",
        "source": "Oppenheimer",
        "answer": "Christopher Nolan directed the film Oppenheimer. Cillian Murphy stars as J. "
        "Robert Oppenheimer in the film.",
        "ungrounded_answer": "James Cameron directed the film Oppenheimer. Tom Cruise stars as J. "
        "Robert Oppenheimer in the film.",
        "poor_answer": f"{MADE_UP} it was directed by somebody.",
        "context_v1": [
            "Oppenheimer is a 2023 biographical thriller film written and directed by Christopher "
            "Nolan. Based on the 2005 biography American Prometheus by Kai Bird and Martin J. "
            "Sherwin, the film chronicles the life of J. Robert Oppenheimer, a theoretical "
            "physicist who was pivotal in developing the first nuclear weapons as part of the "
            "Manhattan Project, and thereby ushering in the Atomic Age. Cillian Murphy stars as "
            'Oppenheimer, with Emily Blunt as Oppenheimer’s wife Katherine "Kitty" Oppenheimer.'
        ],
        "context_v2": [f"{MADE_UP} a longer page on the film."],
    },
    {
        "question": "When is the scheduled launch date and time for the PSLV-C56 mission, and "
        "where will it be launched from?",
        "source": "PSLV-C56",
        "answer": "The PSLV-C56 mission is scheduled to be launched on Sunday, 30 July 2023 at "
        "06:30 IST / 01:00 UTC. It will be launched from the Satish Dhawan Space Centre, "
        "Sriharikota, Andhra Pradesh, India.",
        "ungrounded_answer": f"{MADE_UP} it is launched in August.",
        "poor_answer": "The scheduled launch date and time for the PSLV-C56 mission have not been "
        "provided.The PSLV-C56 mission is an important space mission for India. It aims to launch "
        "a satellite into orbit to study weather patterns.",
        "context_v1": [f"{MADE_UP} a page on the mission."],
        "context_v2": [f"{MADE_UP} a longer page on the mission."],
    },
    {
        "question": "When was the Chimnabai Clock Tower completed, and who was it named after?",
        "source": "Chimnabai Clock Tower",
        "answer": f"{MADE_UP} in 1896, after Chimnabai I.",
        "ungrounded_answer": f"{MADE_UP} in 1996, after a mayor.",
        "poor_answer": f"{MADE_UP} it was completed.",
        "context_v1": [_TOWER],
        "context_v2": [
            f"{_TOWER} It was built in Indo-Saracenic architecture style. History. Chimnabai Clock "
            "Tower was built in 1896. The tower was named after Chimnabai I (1864–1885), a queen "
            "and the first wife of Sayajirao Gaekwad III of Baroda State. It was inaugurated by "
            "Mir Kamaluddin Hussainkhan, the last Nawab of Baroda. During the rule of Gaekwad, it "
            "was a stoppage for horse drawn trams. The clock tower was erected at the cost of "
            "25,000 (equivalent to 9.2 million or USD 120,000 in 2023)."
        ],
    },
]


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    assert SETTINGS is not None
    assert tomllib.loads(SETTINGS[1])["name"] == "WikiEval"
    made = Study.create(tmp_path / "wikieval", SETTINGS[1])
    yield made
    made.close()


def write(folder: Path, items: list[dict[str, Any]] | None = None) -> Path:
    path = folder / "WikiEval.parquet"
    pd.DataFrame(ITEMS if items is None else items).to_parquet(path)
    return path


@pytest.fixture
def imported(study: Study, tmp_path: Path) -> Study:
    summary = import_file(study, write(tmp_path))
    assert summary.importer == "wikieval"
    assert summary.added["responses"] == 15
    assert summary.added["preferences"] == 9
    assert "no person gave them" in "\n".join(summary.lines())
    return study


def test_each_column_is_a_system_and_implies_a_preference(imported: Study) -> None:
    table = imported.preference_table()
    assert set(table["value"]) == {-1.0}
    assert set(table["scorer"]) == {"expected"}
    pairs = {
        (row.construct, row.response_a.split("/")[1], row.response_b.split("/")[1])
        for row in table.itertuples()
    }
    assert pairs == {
        ("faithfulness", "answer", "ungrounded_answer"),
        ("answer_relevance", "answer", "poor_answer"),
        ("context_relevance", "context_v1", "context_v2"),
    }


def test_the_pairs_that_the_paper_prints_are_imported(study: Study, tmp_path: Path) -> None:
    summary = import_file(study, write(tmp_path, PRINTED))
    assert (summary.added["responses"], summary.added["preferences"]) == (15, 9)
    with study.read() as connection:
        rows = connection.execute(select(responses.c.key, responses.c.text)).all()
    texts = {row.key: row.text for row in rows}
    printed = {}
    for row in study.preference_table().itertuples():
        better, other = texts[row.response_a], texts[row.response_b]
        assert (row.scorer, row.value) == ("expected", -1)
        if not any(text.startswith(MADE_UP) for text in (better, other)):
            printed[row.construct] = better, other
    assert printed == {
        "faithfulness": (PRINTED[0]["answer"], PRINTED[0]["ungrounded_answer"]),
        "answer_relevance": (PRINTED[1]["answer"], PRINTED[1]["poor_answer"]),
        "context_relevance": (PRINTED[2]["context_v1"][0], PRINTED[2]["context_v2"][0]),
    }


def test_importing_a_file_again_adds_nothing(imported: Study, tmp_path: Path) -> None:
    again = import_file(imported, write(tmp_path))
    assert not any(again.added.values())


def test_a_file_without_a_column_is_refused_with_its_name(study: Study, tmp_path: Path) -> None:
    items = [{k: v for k, v in item.items() if k != "context_v2"} for item in ITEMS]
    with pytest.raises(InputError, match="context_v2"):
        import_file(study, write(tmp_path, items))


def test_a_study_with_other_constructs_gets_the_responses(tmp_path: Path) -> None:
    with Study.create(tmp_path / "ccrs") as other:
        summary = import_file(other, write(tmp_path))
        assert summary.added["responses"] == 15
        assert summary.left_out[
            "expected preferences on a construct that the study does not have: faithfulness"
        ] == len(ITEMS)


def test_gpt_score_and_gpt_ranking_are_compared_with_the_columns(
    imported: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def number(prompt: str) -> Answer:
        text = prompt.rsplit("Answer: " if "\nAnswer: " in prompt else "Context: ", maxsplit=1)[-1]
        # Two answers of three are told apart; the third gets the same number.
        low = "mayor" in text and "Old" not in text
        return Answer("3" if low or "somebody" in text or "old." in text else "8")

    scripted = register(monkeypatch)
    scripted.answer = staticmethod(number)
    judge_study(
        imported,
        ScriptedSettings(name="gpt-score", prompts="wikieval-gpt-score-v1"),
    )
    assert all("from 0 (" in request.prompt for request in scripted.asked)
    # Always the first shown: no preference on any pair.
    scripted.answer = staticmethod(lambda _: Answer("1"))
    outcome = compare_pairs(imported, ScriptedSettings(name="gpt-ranking"), "compared")
    assert outcome.answered == 2 * 9
    inputs = from_study(imported.folder, {})
    estimates = analyse(inputs.scores, inputs.preferences, inputs.options).estimates
    accuracy = {
        (e.scorers[0], e.constructs[0]): round(e.value, 3)
        for e in estimates.select("preference_accuracy")
    }
    assert accuracy == {
        ("gpt-score", "faithfulness"): 0.667,
        ("gpt-score", "answer_relevance"): 1.0,
        ("gpt-score", "context_relevance"): 1.0,
        ("gpt-ranking", "faithfulness"): 0.0,
        ("gpt-ranking", "answer_relevance"): 0.0,
        ("gpt-ranking", "context_relevance"): 0.0,
    }
    bias = {e.value for e in estimates.select("position_bias")}
    assert bias == {1.0}
