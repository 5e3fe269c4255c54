import pandas as pd

from analysis import Options, analyse
from analysis.core.options import InstructionMismatch, missing_rules
from analysis.render.limitations import not_established
from tests.analysis.scores import simulated, table


def text_of(frame: pd.DataFrame, **options: str) -> str:
    chosen = Options(resamples=200, **options)
    return "\n".join(not_established(analyse(table(frame), options=chosen)))


def test_few_raters_and_queries_and_one_run_are_named() -> None:
    text = text_of(simulated())
    assert "3 people rated" in text
    assert "12 queries" in text
    assert "Whether judge would give the same scores again: each response has one score" in text


def test_simulated_scorers_are_named_first() -> None:
    frame = simulated()
    frame["scorer"] = "simulated-" + frame["scorer"]
    assert text_of(frame).splitlines()[0].startswith("Anything about people or a real judge")


def test_a_note_on_a_scorer_is_repeated() -> None:
    notes = {"judge": "a random model", "elsewhere": "no scorer here"}
    chosen = Options(resamples=200, scorer_notes=notes)
    sentences = not_established(analyse(table(simulated()), options=chosen, given=()))
    assert "Anything about judge that the note on it rules out: a random model" in sentences
    assert not any("elsewhere" in sentence for sentence in sentences)


def test_repeats_change_what_is_said_of_the_judge() -> None:
    frame = simulated()
    again = frame[frame["scorer"] == "judge"].assign(repeat=1)
    text = text_of(pd.concat([frame.assign(repeat=0), again]))
    assert "each uses the first scores of one run" in text


def test_unrated_queries_unequal_samples_and_gaps_are_named() -> None:
    frame = simulated(queries=20, missing=0.2)
    people = frame["scorer_kind"] == "human"
    frame = frame[~people | frame["query_id"].isin([f"q{i}" for i in range(8)])]
    text = text_of(frame.assign(inclusion_prob=0.5))
    assert "the 12 queries that were not rated" in text
    assert "not weighted" in text
    assert "What people would have said where a value is missing" in text


def test_an_adjudicated_reference_and_no_raters_are_named() -> None:
    frame = simulated(raters=1)
    frame.loc[frame["scorer_kind"] == "human", "scorer_kind"] = "adjudicated"
    assert "the reference is adjudicated" in text_of(frame, reference="adjudicated")
    assert "there are no human ratings" in text_of(simulated(raters=0))


def test_no_systems_are_named() -> None:
    assert "the table has none" in text_of(simulated().drop(columns="system"))


def about_rules(frame: pd.DataFrame, *apart: InstructionMismatch) -> list[str]:
    chosen = Options(resamples=200, instruction_mismatches=apart)
    limitations = not_established(analyse(table(frame), options=chosen))
    return [sentence for sentence in limitations if "rules" in sentence]


def test_rules_that_a_judge_was_not_given_are_named_by_construct() -> None:
    frame = simulated(constructs=("QR", "CC"))
    second = frame[frame["scorer"] == "judge"].assign(scorer="other")
    rules = ("Rate what it says.", "Be kind.")
    assert about_rules(
        pd.concat([frame, second]),
        InstructionMismatch("QR", "judge", rules),
        InstructionMismatch("QR", "other", rules),
        InstructionMismatch("CC", "judge", ()),
        InstructionMismatch("CC", "other", None),
    ) == [
        "How judge and other would score QR under the raters' rules, which their prompts lack: "
        "\u201cRate what it says.\u201d \u201cBe kind.\u201d",
        "Whether other was given the rules that raters followed on CC: its prompt is not known "
        "here.",
    ]


def test_rules_are_not_named_where_nothing_is_compared() -> None:
    frame = simulated()
    apart = InstructionMismatch("QR", "judge", ("Be kind.",))
    assert not about_rules(frame[frame["scorer_kind"] == "judge"], apart)
    assert not about_rules(frame, InstructionMismatch("CC", "judge", ("Be kind.",)))
    assert not about_rules(frame, InstructionMismatch("QR", "nobody", ("Be kind.",)))


def test_a_rule_is_in_a_prompt_whatever_its_case_and_line_breaks() -> None:
    prompt = "Score it. A refusal\n  is a response; be kind."
    assert missing_rules(("a refusal is a Response.", "Be strict."), prompt) == ("Be strict.",)
