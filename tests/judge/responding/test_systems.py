from pathlib import Path

import pytest

from judge.protocol.exchange import Answer
from judge.responding.reader_prompt import filled, read_response, reader_prompts
from judge.responding.systems import chosen_systems, preset
from study.errors import StudyError
from study.settings.scorer_sections import SystemSpec
from study.settings.study_toml import parse_config

OWN = {"mine": SystemSpec(reader="m"), "imported": SystemSpec(family="llama")}


def test_the_presets_are_six_systems_of_three_readers() -> None:
    paper, appendix = preset("ccrs-paper"), preset("ccrs-paper-appendix")
    assert list(paper) == list(appendix) == list("ABCDEF")
    assert [spec.retriever for spec in paper.values()] == ["bm25", "dense"] * 3
    assert len({spec.reader for spec in paper.values()}) == 3
    assert {(s.chunk_tokens, s.chunk_overlap, s.passages) for s in paper.values()} == {
        (300, 60, 20)
    }
    assert {(s.chunk_tokens, s.chunk_overlap, s.passages) for s in appendix.values()} == {
        (100, 20, 20)
    }


def test_names_are_single_or_ranges_of_letters() -> None:
    assert list(chosen_systems({}, ["A-C", "F"], None)[0]) == ["A", "B", "C", "F"]
    assert list(chosen_systems(OWN, [], None)[0]) == ["mine"]
    assert list(chosen_systems(OWN, [], "ccrs-paper")[0]) == [*"ABCDEF", "mine"]
    assert list(chosen_systems({"A-C": SystemSpec(reader="m")}, ["A-C"], None)[0]) == ["A-C"]


def test_the_preset_is_named_only_where_it_is_used() -> None:
    assert chosen_systems({}, [], None)[1] == "ccrs-paper"
    assert chosen_systems(OWN, [], None)[1] is None


@pytest.mark.parametrize(
    ("declared", "names", "chosen", "message"),
    [
        (OWN, ["min"], None, "Unknown system 'min'.*mine"),
        (OWN, ["imported"], None, "Unknown system 'imported'"),
        (OWN, ["mine"], "ccrs-paper-appendix", "has no effect"),
        ({"A": SystemSpec(reader="m")}, [], "ccrs-paper", "both have the system A"),
    ],
)
def test_a_choice_without_a_meaning_is_refused(
    declared: dict[str, SystemSpec], names: list[str], chosen: str | None, message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        chosen_systems(declared, names, chosen)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("passages = 3", "has no effect without a reader"),
        ("", "neither the family nor the reader"),
        ('reader = "m"\nchunk_tokens = 50', "must be below chunk_tokens"),
        ('reader = "m"\nfusion = 10', "goes with retriever"),
        ('reader = "m"\nquery_prefix = "query: "', "is for an encoder"),
        ('reader = "m"\nretriever = "bm26"', "bm25"),
    ],
)
def test_a_setting_without_effect_is_refused(settings: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        parse_config(f"[systems.mine]\n{settings}\n")


def test_the_prompt_has_the_passages_in_rank_order(tmp_path: Path) -> None:
    prompts = reader_prompts("rag-answer-v1", tmp_path)
    text = filled(prompts, " Why {passages}? ", ["One {question}.", "Two.\n"])
    assert text.endswith(
        "<context>\n<content>\nOne {question}.\n</content>\n<content>\nTwo.\n</content>\n"
        "</context>\n\nQuestion: Why {passages}?\n\n"
        "Write your answer to the question between <answer> and </answer>."
    )
    # The words of a version never change.
    assert prompts.hash == "5ad44f100810de35ff0ce5b0eb810215c001d83b240727165eb77ff269833d9c"
    assert prompts.max_tokens == 2048


OWN_PROMPT = 'name = "short-v1"\n[steps.answer]\nprompt = "{passages}\\n{question}"\n'


def test_a_study_has_prompts_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(OWN_PROMPT)
    assert filled(reader_prompts("short.toml", tmp_path), "Q?", ["P", "R"]) == "P\n\nR\nQ?"
    (tmp_path / "bare.toml").write_text(OWN_PROMPT.replace("{passages}", "{response}"))
    (tmp_path / "two.toml").write_text(f'{OWN_PROMPT}[steps.more]\nprompt = "{{question}}"\n')
    for name, message in {
        "rag-answer-v2": "Unknown prompt.*rag-answer-v1",
        "bare.toml": "shows response, question; write {passages}",
        "two.toml": "one prompt",
        "none.toml": "can't be read",
    }.items():
        with pytest.raises(StudyError, match=message):
            reader_prompts(name, tmp_path)


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        (Answer("So: <answer>\nYes.\n</answer> <answer>No.</answer>"), ("Yes.", "tagged")),
        (Answer("<answer>Yes, but", "length"), ("Yes, but", "tagged")),
        (Answer("<answer>Yes, but", "stop"), ("<answer>Yes, but", "whole")),
        (Answer(" Yes. "), ("Yes.", "whole")),
        (Answer("", "stop"), ("", "whole")),
        (Answer("<think>a</think>\n<answer>b</answer>"), ("b", "tagged")),
        (Answer("<think>a, or", "length"), None),
        (Answer("", "length"), None),
    ],
)
def test_the_response_is_what_the_tags_enclose(
    answer: Answer, response: tuple[str, str] | None
) -> None:
    assert read_response(answer) == response
