"""What the names of columns tell, in several languages and spellings."""

import pytest

from study.importing.score_columns.names import (
    kind_of,
    names_model,
    names_no_score,
    whole_role,
)
from study.importing.score_columns.shared_parts import by_construct
from study.importing.score_columns.words import CONSTRUCTS
from study.settings.constructs import CCRS


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (
            "judge",
            "llm judge gpt4o gpt-4o-mini claude-3-5-sonnet gemini llama3 llama-3.1-70b qwen2.5 o3 "
            "command-r deepseek phi4 Mixtral nova grok G-Eval geval_score ragas autorater ai KI "
            "Bewertung_KI puntuación_IA juge_ia llm_rater gpt_grader ai_reader llmScore "
            "feedback.gpt.correctness judge.label",
        ),
        (
            "human",
            "human rater1 annotator_2 expert reviewer reader_3 grader labeler coder SME manual "
            "gold ground_truth reference_label crowd mturk_1 Mensch Bewertung_Mensch humano "
            "note_humain voto_umano évaluateur human_judge expert_judge humanScore",
        ),
        (None, "score rating label system question human_vs_llm judge_rater correctness"),
    ],
)
def test_words_tell_whose_scores_a_column_has(kind: str | None, columns: str) -> None:
    for column in columns.split():
        found = kind_of(column)
        assert (found and found[0]) == kind, column


@pytest.mark.parametrize(
    ("role", "columns"),
    [
        ("query", ["question", "Frage", "pregunta", "domanda", "inputs.question", "Question ID"]),
        ("response", ["answer", "Antwort", "réponse", "risposta", "outputs.answer"]),
        ("system", ["system", "model", "Modell", "sys", "système"]),
        ("reference", ["reference", "reference.answer", "ground_truth"]),
        ("index", ["", "Unnamed: 0", "#"]),
        (None, ["scan", "human", "feedback.correctness"]),
    ],
)
def test_whole_names_tell_what_a_row_is(role: str | None, columns: list[str]) -> None:
    assert {column: whole_role(column) for column in columns} == dict.fromkeys(columns, role)


def test_times_costs_and_counts_are_no_scores() -> None:
    columns = (
        "execution_time latency id run scan turn fold split llm_tokens judge_cost human_time "
        "confidence judge_probability example_id Dauer_KI llm_reasoning human_comment"
    )
    assert not [column for column in columns.split() if names_no_score(column) is None]
    assert names_no_score("judge_run_2") is None


def test_constructs_are_what_is_left_of_a_name() -> None:
    assert by_construct(["LLaMA_QR", "llmAC"], ["humanQR", "rater AC"]) == (
        ("QR=LLaMA_QR", "AC=llmAC"), ("QR=humanQR", "AC=rater AC")
    )  # fmt: skip
    assert by_construct(["gpt-4o", "gpt-4o-mini"], ["expert"]) == (
        ("gpt-4o", "gpt-4o-mini"), ("expert",)
    )  # fmt: skip


def test_names_of_language_models_are_told() -> None:
    assert all(map(names_model, ["gpt-4o-mini", "llama-3", "mistral", "claude-sonnet-4"]))
    assert not any(map(names_model, ["good", "anna", "A"]))


def test_the_constructs_are_those_of_the_settings() -> None:
    expected = {spec.key.casefold(): spec.key for spec in CCRS}
    expected |= {spec.name.casefold().replace(" ", "_"): spec.key for spec in CCRS}
    assert {name: CONSTRUCTS[name] for name in expected} == expected
