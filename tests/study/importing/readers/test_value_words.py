"""Well-known words as numbers, words for a missing judgment, and declared words."""

import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from study.importing.readers.column_words import ColumnWords, vocabularies_of
from study.importing.readers.known_words import WORDS_BY_VALUE, WORDS_FOR_MISSING
from study.importing.readers.value_words import (
    NO_VALUE,
    as_option,
    categories_of,
    checked_values,
    declared_values,
    folded_word,
    is_missing,
    vocabulary_of,
)

LISTS = [
    [[word.strip() for word in level.split(",")] for level in line.split(" | ")]
    for line in WORDS_BY_VALUE.strip().splitlines()
]


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (("pass", "FAILED"), (1, 0)),
        (("correct", "Incorrect"), (1, 0)),
        (("right", "wrong"), (1, 0)),
        (("Y", "N"), (1, 0)),
        (("T", "f"), (1, 0)),
        (("good", "bad"), (1, 0)),
        (("good", "ok", "bad"), (2, 1, 0)),
        (("accepted", "rejected"), (1, 0)),
        (("acceptable", "unacceptable"), (1, 0)),
        (("relevant", "not relevant"), (1, 0)),
        (("relevant", "Partially_Relevant", "irrelevant"), (2, 1, 0)),
        (("correct", "partially correct", "incorrect"), (2, 1, 0)),
        (("highly relevant", "Relevant", "marginally relevant", "not relevant"), (3, 2, 1, 0)),
        (("relevant", "somewhat relevant", "slightly relevant", "irrelevant"), (3, 2, 1, 0)),
        (("excellent", "good", "acceptable", "poor", "unacceptable"), (4, 3, 2, 1, 0)),
        (("sehr gut", "gut", "mittel", "mäßig", "schlecht"), (4, 3, 2, 1, 0)),
        (("zeer goed", "goed", "voldoende", "matig", "slecht"), (4, 3, 2, 1, 0)),
        (("supported", "unsupported"), (1, 0)),
        (("faithful", "un-faithful"), (1, 0)),
        (("factual", "hallucinated"), (1, 0)),
        (("helpful", "unhelpful"), (1, 0)),
        (("safe", "unsafe"), (1, 0)),
        (("positive", "negative"), (1, 0)),
        (("pos", "neg"), (1, 0)),
        (("pos", "ind", "neg"), (2, 1, 0)),
        (("positive", "neutral", "negative"), (2, 1, 0)),
        (("thumbs up", "thumbs_down"), (1, 0)),
        (("ThumbsUp", "thumbs-down"), (1, 0)),
        ((":thumbsup:", ":thumbsdown:"), (1, 0)),
        (("👍", "👎"), (1, 0)),
        (("👍🏽", "👎🏿"), (1, 0)),
        (("✅", "❌"), (1, 0)),
        (("✔️", "✖️"), (1, 0)),
        (("up", "down"), (1, 0)),
        (("C", "P", "I", "N"), (1, 0.5, 0, 0)),
        (("C", "I"), (1, 0)),
        (("high", "medium", "low"), (2, 1, 0)),
        (("excellent", "very good", "good", "fair", "poor"), (4, 3, 2, 1, 0)),
        (("Strongly agree", "agree", "neutral", "disagree", "Strongly Disagree"), (4, 3, 2, 1, 0)),
        (("ja", "nein"), (1, 0)),
        (("oui", "non"), (1, 0)),
        (("sí", "no"), (1, 0)),
        (("si\u0301", "no"), (1, 0)),
        (("sì", "no"), (1, 0)),
        (("gut", "schlecht"), (1, 0)),
        (("richtig", "falsch"), (1, 0)),
        (("+", "-"), (1, 0)),
        (("corretto", "errato"), (1, 0)),
        (("corretto", "sbagliato"), (1, 0)),
        (("giusto", "sbagliato"), (1, 0)),
        (("giusto", "errato"), (1, 0)),
        (("buono", "cattivo"), (1, 0)),
        (("sufficient", "insufficient"), (1, 0)),
        (("adequate", "inadequate"), (1, 0)),
        (("Meets", "Does not meet"), (1, 0)),
        (("meets", "doesn't meet"), (1, 0)),
        (("satisfied", "not satisfied"), (1, 0)),
        (("appropriate", "inappropriate"), (1, 0)),
        (("OK", "NOK"), (1, 0)),
        (("met", "unmet"), (1, 0)),
        (("correcto", "incorrecto"), (1, 0)),
        (("correcte", "incorrecte"), (1, 0)),
        (("correct", "incorrecte"), (1, 0)),
        (("vrai", "faux"), (1, 0)),
        (("verdadero", "falso"), (1, 0)),
        (("verdadeiro", "falso"), (1, 0)),
        (("vero", "falso"), (1, 0)),
        (("wahr", "falsch"), (1, 0)),
        (("zutreffend", "nicht zutreffend"), (1, 0)),
        (("trifft zu", "trifft nicht zu"), (1, 0)),
        (("ausreichend", "nicht ausreichend"), (1, 0)),
        (("certo", "errado"), (1, 0)),
        (("correto", "incorreto"), (1, 0)),
        (("sim", "não"), (1, 0)),
        (("Sim", "nao"), (1, 0)),
        (("bueno", "malo"), (1, 0)),
        (("bon", "mauvais"), (1, 0)),
        (("bom", "ruim"), (1, 0)),
        (("juist", "onjuist"), (1, 0)),
        (("goed", "fout"), (1, 0)),
        (("exceeds expectations", "meets expectations", "below expectations"), (2, 1, 0)),
    ],
)
def test_well_known_words(words: tuple[str, ...], numbers: tuple[float, ...]) -> None:
    vocabulary = vocabulary_of(words)
    assert vocabulary is not None
    assert tuple(vocabulary.value(word) for word in words) == numbers


@pytest.mark.parametrize("levels", LISTS, ids=lambda levels: levels[-1][0])
def test_each_list_is_read_from_the_lowest_to_the_highest(levels: list[list[str]]) -> None:
    words = [word for level in levels for word in level]
    vocabulary = vocabulary_of(words)
    assert vocabulary is not None
    numbers = [[vocabulary.value(word) for word in level] for level in levels]
    ordered = [level[0] for level in numbers]
    assert all(len(set(level)) == 1 for level in numbers)
    numbered = [number for number in ordered if number is not None]
    assert sorted(numbered) == ordered
    assert len(set(ordered)) == len(levels)


@given(st.sampled_from([w for levels in LISTS for level in levels for w in level]), st.data())
def test_writing_does_not_matter(word: str, data: st.DataObject) -> None:
    joined = data.draw(st.sampled_from([" ", "_", "-", "  "])).join(word.split(" "))
    written = data.draw(st.sampled_from([joined, joined.upper(), joined.title(), f" {joined} "]))
    if folded_word(word) != word or len(word) > 1:
        assert folded_word(written) == folded_word(word)


@pytest.mark.parametrize(
    "word", ["unsure", "N/A", "Don't know", "dont_know", "can’t tell", "?", "-"]
)
def test_words_for_missing(word: str) -> None:
    assert is_missing(word)
    assert vocabulary_of([word]) is None
    vocabulary = vocabulary_of([word, "good", "bad"])
    assert vocabulary is not None
    assert vocabulary.value(word) is None
    assert vocabulary.value("good") == 1


def test_what_a_number_cell_calls_missing_is_missing_in_words() -> None:
    assert all(is_missing(word) for word in NO_VALUE)
    assert all(is_missing(word) for word in WORDS_FOR_MISSING.replace("\n", " ").split(","))


@pytest.mark.parametrize("words", [("good", "so-so"), ("pass", "yes"), ("cat", "dog"), ()])
def test_words_without_a_vocabulary(words: tuple[str, ...]) -> None:
    assert vocabulary_of(words) is None


def test_declared_words() -> None:
    declared = declared_values(["good=2, so so=1", "bad=0,unsure=,4/5=1.5,a, b=-1,x=y=0"])
    assert declared == {
        "good": 2, "so so": 1, "bad": 0, "unsure": None, "4/5": 1.5, "a, b": -1, "x=y": 0,
    }  # fmt: skip
    vocabulary = vocabulary_of(["Good", "So-so", "unsure", "n/a"], declared)
    assert vocabulary is not None
    assert vocabulary.value("good") == 2
    assert vocabulary.value("unsure") is None
    assert vocabulary_of(["good", "bad", "great"], declared) is None


def test_a_point_between_known_words_may_be_declared() -> None:
    vocabulary = vocabulary_of(["correct", "incorrect", "unsure"], {"unsure": 0.5})
    assert vocabulary is not None
    assert [vocabulary.value(w) for w in ("correct", "unsure", "incorrect")] == [1, 0.5, 0]
    assert vocabulary_of(["correct", "incorrect", "unsure"], {"unsure": 3}) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("good", "'good' is not WORD=NUMBER"),
        ("=1", "'=1' is not WORD=NUMBER"),
        ("good=high", "'high' is not a number"),
        ("good=nan", "nan of 'good' is not a finite number"),
        ("good=1,Good=2", "'Good' is declared twice"),
        ("5=1", "'5' is a number, which is read as it is"),
    ],
)
def test_wrong_declarations(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        declared_values([text])


def test_blank_words_cannot_be_declared() -> None:
    with pytest.raises(ValueError, match="a word is blank"):
        checked_values([(" ", 1)])


def column(**times: int) -> ColumnWords:
    words = ColumnWords()
    for word, count in times.items():
        for row in range(count):
            words.add(word, row)
    return words


def test_columns_of_a_construct_have_one_vocabulary() -> None:
    found = vocabularies_of({"llm": column(good=3, bad=2), "human": column(good=1, ok=2, bad=1)})
    assert found["llm"].value("good") == 2
    assert found["llm"] == found["human"]


def test_two_valued_words_may_differ_between_columns() -> None:
    found = vocabularies_of({"llm": column(yes=3, no=2), "human": column(good=1, ok=2, bad=1)})
    assert (found["llm"].value("yes"), found["human"].value("good")) == (1, 2)


def test_graded_words_of_two_ranges_have_no_common_vocabulary() -> None:
    grades = column(poor=1, fair=1, good=1, excellent=1)
    assert vocabularies_of({"llm": grades, "human": column(low=1, medium=1, high=1)}) == {}


def test_words_that_are_shared_and_repeated_are_categories() -> None:
    found = vocabularies_of({"llm": column(tea=3, milk=2), "human": column(tea=1, juice=4, milk=1)})
    assert found["llm"].nominal
    assert found["llm"].names() == {0: "juice", 1: "milk", 2: "tea"}


@pytest.mark.parametrize(
    "columns",
    [
        {"llm": column(tea=3, milk=2)},
        {"llm": column(tea=3, milk=2), "human": column(red=3, blue=2)},
        {"llm": column(tea=1, milk=1), "human": column(tea=1)},
        {"llm": column(**{f"w{i}": 2 for i in range(12)}), "human": column(w1=2)},
        {"llm": column(good=3, bad=2, odd=3), "human": column(good=3, bad=2)},
    ],
    ids=["one column", "nothing shared", "not repeated", "too many", "a slip among known words"],
)
def test_words_that_are_not_shared_and_repeated_are_no_categories(
    columns: dict[str, ColumnWords],
) -> None:
    assert "llm" not in vocabularies_of(columns)


def test_missing_words_are_no_categories() -> None:
    assert categories_of([{"unsure": 3, "n/a": 4}, {"unsure": 3}]) is None


def test_the_option_names_what_is_known() -> None:
    assert as_option(["good", "so-so", "bad", "n/a"]) == "--values good=1,so-so=NUMBER,bad=0"
    assert as_option(["fine words"]) == "--values 'fine words=NUMBER'"


def test_words_are_read_without_heavy_imports() -> None:
    code = (
        "import sys, study.importing.score_columns.reading; "
        "sys.exit(', '.join({'pydantic', 'pandas', 'numpy', 'sqlalchemy'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_known_word_is_a_pass_in_one_list_and_a_fail_in_another() -> None:
    numbers: dict[str, set[int]] = {}
    for levels in LISTS:
        if len(levels) == 2:
            for number, words in enumerate(levels):
                for word in words:
                    numbers.setdefault(folded_word(word), set()).add(number)
    assert [word for word, of in numbers.items() if len(of) > 1] == []


@pytest.mark.parametrize("words", [("spam", "ham"), ("win", "loss"), ("bug", "feature")])
def test_words_without_a_direction_are_not_known(words: tuple[str, str]) -> None:
    assert vocabulary_of(words) is None
    categories = categories_of([dict.fromkeys(words, 3)] * 2)
    assert categories is not None
    assert categories.nominal
    assert not categories.two_valued


def test_a_number_is_declared_as_missing_only() -> None:
    assert declared_values(["-1=,99=,unsure="]) == {"-1": None, "99": None, "unsure": None}
    assert declared_values(["-1=,1="]) == {"-1": None, "1": None}
    with pytest.raises(ValueError, match="'-1' is a number, which is read as it is"):
        declared_values(["-1=3"])
    with pytest.raises(ValueError, match="is declared twice"):
        declared_values(["99=,99.0="])


def test_words_that_an_accident_knows_get_no_number_in_the_remedy() -> None:
    assert "F=NUMBER" in as_option(["A", "B", "F", "X", "Y"])
