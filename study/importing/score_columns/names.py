"""What the names of a table's columns say: whose scores they have, on what, of which row."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import combining, normalize

from study.importing.readers.column_layout import JOINED
from study.importing.score_columns.words import (
    ABOUT_MEANS,
    CONSTRUCTS,
    CRITERIA,
    ENDINGS_OF_CRITERIA,
    EVALUATED,
    FILLERS,
    LANGUAGE_MODELS,
    MEANS,
    NAME_PEOPLE,
    NEVER_SCORES,
    NUMBERED_MODELS,
    OF_JUDGES,
    OF_PEOPLE,
    PERHAPS_OF_JUDGES,
    PERHAPS_OF_PEOPLE,
    RARELY_SCORES,
    REASONS,
    SUMMARIES,
    WHOLE_NAMES,
)

_MODELS = LANGUAGE_MODELS | NUMBERED_MODELS
_OF_SCORERS = OF_JUDGES | PERHAPS_OF_JUDGES | OF_PEOPLE | PERHAPS_OF_PEOPLE
_PHRASES = tuple(word for word in _OF_SCORERS if "_" in word)
# gpt4o and llama3: a version follows the family.
_VERSION = re.compile(rf"({'|'.join(sorted(LANGUAGE_MODELS, key=len, reverse=True))})\d.*")
# Objects that say nothing of what is in them, and the names of a text in the object of its role.
_OUTER = {
    *("inputs", "input", "outputs", "output", "vars", "data", "example", "metadata", "meta"),
    *("item", "sample", "record", "row", "task", "case", "test", "test_case", "entry", "instance"),
    *("info", "fields", "params", "attributes", "payload", "doc", "document"),
}
_TEXTS = {"text", "content"}


# As promptfoo calls the column of a provider: [openai:gpt-4o-mini] and the prompt.
_OF_PROVIDER = re.compile(r"(\[[^\]\s]+\])\s.*", re.DOTALL)


def without_prompt(column: str) -> str:
    """A name without the prompt that promptfoo writes behind a provider."""
    found = _OF_PROVIDER.fullmatch(column)
    return column if found is None else found[1]


@lru_cache(maxsize=4096)
def folded(column: str) -> str:
    """A name as names of fields are written: Réponse ID as reponse_id."""
    plain = "".join(c for c in normalize("NFKD", column.strip()) if not combining(c))
    return re.sub(r"[\s-]+", "_", plain).casefold()


@lru_cache(maxsize=4096)
def words(column: str) -> tuple[str, ...]:
    """The words of a name, in lower case and without accents; llmScore has two."""
    plain = "".join(c for c in normalize("NFKD", without_prompt(column)) if not combining(c))
    found: list[str] = []
    for word in re.split(r"[^0-9A-Za-z]+", plain):
        if _scorer_word(word.casefold()):
            found.append(word)
        else:
            parts = JOINED.split(word)
            found += [part for part in parts if part]
    return tuple(word.casefold() for word in found if word)


def _scorer_word(word: str) -> str | None:
    """The word for scorers that a word is: raters2 is raters, gpt4o is gpt."""
    bare = word.rstrip("0123456789")
    for candidate in (word, bare):
        if candidate in _OF_SCORERS:
            return candidate
    match = _VERSION.fullmatch(word)
    return match[1] if match else None


@lru_cache(maxsize=4096)
def scorer_words(column: str) -> dict[str, str]:
    """The words for judges and raters in a name, as they are written, to the word that is meant."""
    found = {word: known for word in words(column) if (known := _scorer_word(word)) is not None}
    name = f"_{'_'.join(words(column))}_"
    return found | {phrase: phrase for phrase in _PHRASES if f"_{phrase}_" in name}


def kind_of(column: str) -> tuple[str, str] | None:
    """Whose scores a name says that a column has, "judge" or "human", and by which word.

    A word for machines or for people alone decides over one for either: human_judge, llm_rater.
    None where the name says nothing, or both.
    """
    found = scorer_words(column)
    for judges, people in ((OF_JUDGES, OF_PEOPLE), (PERHAPS_OF_JUDGES, PERHAPS_OF_PEOPLE)):
        judge = next((w for w, known in found.items() if known in judges), None)
        human = next((w for w, known in found.items() if known in people), None)
        if judge and human:
            return None
        if judge or human:
            return ("judge", judge) if judge else ("human", str(human))
    return None


def names_model(text: str) -> bool:
    """Whether a text is the name of a language model, such as gpt-4o-mini."""
    return any(known in _MODELS for known in scorer_words(text).values())


def names_people(column: str) -> bool:
    """Whether a column of names of scorers has those of people, such as annotator_id."""
    if whole_role(column) != "scorer":
        return False
    if folded(column) in NAME_PEOPLE:
        return True
    found = kind_of("_".join(word for word in words(column) if word not in ("id", "name")))
    return found is not None and found[0] == "human"


def names_person(column: str) -> bool:
    """Whether a column may be called as a person is: Anna, and neither Clarity, Easy nor GPT."""
    # Behind the name may be the scale: Marta (1-5).
    name = _SCALE_BEHIND.sub("", without_prompt(column)).strip()
    return (
        name.istitle()
        and name.isalpha()
        and len(name) > 1
        and name.casefold() not in CRITERIA
        and not name.casefold().endswith(ENDINGS_OF_CRITERIA)
        and not names_model(name)
        and not scorer_words(name)
    )


_SCALE_BEHIND = re.compile(r"\s*[(\[]\s*[0-9.]+\s*(?:-|–|to|/)\s*[0-9.]+\s*[)\]]\s*\Z")


def names_scorer(column: str) -> bool:
    """Whether a column may have who scored, by its name: labeler, reviewer_name, annotated_by."""
    if whole_role(column) == "scorer":
        return True
    said = [w for w in words(column) if w not in ("id", "name", "by", "code", "email", "initials")]
    return bool(said) and all(_scorer_word(word) in PERHAPS_OF_PEOPLE for word in said)


def names_no_score(column: str) -> str | None:
    """The word of a name that says that the column has something else than scores."""
    found = words(column)
    if kind_of(column) is None:
        found_rarely = next((word for word in found if word in RARELY_SCORES), None)
        if found_rarely:
            return found_rarely
    return next((word for word in found if word in NEVER_SCORES or word in REASONS), None)


def names_reason(column: str) -> bool:
    """Whether a column has the words of a judge or rater in place of a score."""
    return any(word in REASONS for word in words(column))


@lru_cache(maxsize=4096)
def whole_role(column: str) -> str | None:
    """The role that a name as a whole has, such as query; None for other names.

    Its words may be joined, as in responseId. Of a name with a point, such as inputs.question, the
    part behind it counts; query.text is a query.
    """
    found = _role_and_name(column)
    return None if found is None else found[0]


def _role_and_name(column: str) -> tuple[str, str] | None:
    """The role of a name, and the one of `WHOLE_NAMES` that it stands for."""
    for known in _spellings(column):
        for role, names in WHOLE_NAMES.items():
            if known in names:
                return role, known
    name = folded(column)
    if not name:
        return "index", name
    outer, point, inner = name.rpartition(".")
    if not point:
        return None
    outer = outer.rpartition(".")[2]
    if outer in WHOLE_NAMES["reference"]:
        return "reference", outer
    roles: tuple[str, ...] = ()
    if inner in _TEXTS:
        inner, roles = outer, ("query", "response")
    elif outer in _OUTER:
        roles = ("query", "response", "system")
    elif outer in WHOLE_NAMES["response"]:
        roles = ("system",)
    return next(((role, inner) for role in roles if inner in WHOLE_NAMES[role]), None)


def _spellings(column: str) -> Iterator[str]:
    """How names of fields are written that a name may be: folded, and with its words apart."""
    yield from filter(None, dict.fromkeys((folded(column), "_".join(words(column)))))


def field_name(column: str) -> str:
    """A name as that of a field is written, where it is known: scorerKind as scorer_kind."""
    known = {name for names in WHOLE_NAMES.values() for name in names}
    return next((name for name in _spellings(column) if name in known), folded(column))


def named_for(role: str, columns: Sequence[str]) -> list[str]:
    """The columns whose names as a whole have a role, the clearest first."""
    names = WHOLE_NAMES[role]

    def rank(column: str) -> tuple[bool, int]:
        found = _role_and_name(column)
        place = names.index(found[1]) if found else 0
        outer = folded(column).rpartition(".")[0].rpartition(".")[2]
        # What a response says of its model is that of the response, unlike what a record says.
        neutral = role == "system" and outer in _OUTER - {*WHOLE_NAMES["response"]}
        return neutral, place if folded(column) in names else place + len(names)

    return sorted((column for column in columns if whole_role(column) == role), key=rank)


def summaries(columns: Sequence[str]) -> list[str]:
    """The columns that are named after a mean or the like, where others are not.

    So are those of numbers about a mean or about a column, such as its n and range; a mean by
    itself stays.
    """
    together = [column for column in columns if not SUMMARIES.isdisjoint(words(column))]
    about = [
        column
        for column in columns
        if column not in together
        and not _by_letter(column, columns)
        and (
            _describes(column, columns) or (together and not ABOUT_MEANS.isdisjoint(words(column)))
        )
    ]
    if about and not together:
        return about
    if len(together) + len(about) < len(columns):
        return together + about
    means = [column for column in together if not MEANS.isdisjoint(words(column))] or together
    return [column for column in columns if column not in means]


def _describes(column: str, columns: Sequence[str]) -> bool:
    """Whether a column is about another one, human_n about human, or is an end of a range."""
    *stem, last = words(column) or ("",)
    if not stem or last not in ABOUT_MEANS or names_model(column):
        return False
    others = [[*words(other)] for other in columns if other != column]
    end = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}.get(last)
    return stem in others or [*stem, end] in others


def _by_letter(column: str, columns: Sequence[str]) -> bool:
    """Whether letters tell columns apart, as in rater_m and rater_n."""
    *stem, last = words(column) or ("",)
    others = [words(other) for other in columns if other != column]
    return len(last) == 1 and any(
        [*beginning] == stem and len(letter) == 1
        for *beginning, letter in filter(None, others)
    )  # fmt: skip


def names_evaluation(column: str) -> bool:
    """Whether a column is called after what automatic evaluations score: answer_correctness."""
    return not EVALUATED.isdisjoint(words(column))


def without_people(column: str) -> str:
    """A name without its words for people: feedback.human_correctness as feedback_correctness."""
    people = {w for w, known in scorer_words(column).items() if known in OF_PEOPLE}
    return "_".join(word for word in words(column) if word not in people)


def construct_in_name(column: str) -> str:
    """The construct in a column's name: what is left without judges, raters, scores and numbers.

    Nothing where nothing is left. The constructs of CCRS have their keys, in whatever case they
    are written.
    """
    known = scorer_words(column)
    parts = {part for phrase in known for part in phrase.split("_")}
    kept = [
        word
        for word in written_words(column)
        if word.strip("0123456789")
        and (fold := words(word)[0] if words(word) else "")
        and fold not in parts
        and fold not in FILLERS
        and fold.rstrip("0123456789") not in FILLERS
    ]
    rest = "_".join(kept)
    return CONSTRUCTS.get(rest.casefold(), rest)


def written_words(column: str) -> list[str]:
    """The words of a name with their capital letters and accents."""
    found: list[str] = []
    for word in re.split(r"[\W_]+", without_prompt(column)):
        parts = JOINED.split(word)
        found += [word] if _scorer_word(folded(word)) else [part for part in parts if part]
    return found
