"""Options of `report`, `check`, `plan`, `judge rank` and `doctor` that have no effect on the input.

Every option of these commands has an entry in `OPTIONS`, by its parameter: a rule that says why it
has no effect, or the place where that is found. A test enumerates the options of the commands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from analysis.cli.report_input import CannotRun
from study.base.analysis_settings import AnalysisSettings

if TYPE_CHECKING:
    from analysis.core.tables import ScoreTable


@dataclass(frozen=True)
class Facts:
    """What a command knows of its input when it asks which options were of use."""

    scores: ScoreTable | None = None
    compares: bool = False
    """Whether the input is a table of preferences alone."""
    thresholds: Sequence[Any] = ()
    """Of `ccrs check`."""
    planned: Collection[str] = ()
    """Statistics and claims of `ccrs plan`."""
    claims: bool = False
    """Whether `ccrs plan` plans any claim that a report corrects."""
    drawn: bool = False
    """Whether `ccrs plan` draws its studies from the pilot's queries."""
    levels: bool = True
    """Whether anything that `ccrs plan` plans has an interval at --level."""
    pilot: bool = True
    """Whether `ccrs plan` starts from a study or table."""
    measures: Collection[str] = field(default_factory=tuple)
    """Measures with a figure, of `ccrs judge rank`."""


@dataclass(frozen=True)
class WithoutEffect:
    """The words that have no effect, such as `--scale 0:1`; why; and what to do, if anything."""

    words: str
    why: str
    remedy: str = ""


Rule = Callable[[Any, Facts], WithoutEffect | None]


def given_names(context: click.Context) -> set[str]:
    """Parameters that the user typed."""
    typed = ParameterSource.COMMANDLINE
    return {name for name in context.params if context.get_parameter_source(name) is typed}


def check_given(facts: Facts, context: click.Context | None = None) -> None:
    """Check that every option that was typed has an effect.

    Raises
    ------
    CannotRun
        One has none. All such options are listed, with the reason and the remedy.
    """
    from analysis.pipeline.unused_options import without_effect

    context = context or click.get_current_context()
    rules = OPTIONS[context.command.name or ""]
    # A command that takes parameters apart, as columns, leaves those typed in the context.
    found = [
        rules[name](context.params[name], facts)
        for name in context.params
        if name in given_names(context) and name in rules
    ]
    faults = [without_effect(f.words, f.why, f.remedy) for f in found if f is not None]
    if faults:
        raise CannotRun("\n".join(faults))


def _always(value: Any, facts: Facts) -> None:
    """The option is about the output or about the computation of every figure."""
    del value, facts


def _by_reader(value: Any, facts: Facts) -> None:
    """The option names columns or files, and the reader refuses what is not there."""
    del value, facts


def _by_context(value: Any, facts: Facts) -> None:
    """The option is a field of `Options`; `analysis.pipeline.unused_options` has its rule."""
    del value, facts


def _scales(texts: Sequence[str], facts: Facts) -> WithoutEffect | None:
    """A scale of which no scorer has values, since another option names a nearer one."""
    if facts.scores is None:
        return WithoutEffect(_typed("--scale", texts), "the file has no scores")
    frame = facts.scores.frame
    pairs = {(str(c), str(s)) for c, s in zip(frame["construct"], frame["scorer"], strict=True)}
    own = {text.rpartition("=")[0] for text in texts}
    twice = _repeated(text.rpartition("=")[0] for text in texts)
    if twice is not None:
        about = f"of {twice}" if twice else "of all constructs"
        return WithoutEffect(_typed("--scale", texts), f"the scale {about} is declared twice")
    for text in texts:
        name = text.rpartition("=")[0]
        if ":" in name:
            continue
        left = [
            (construct, scorer)
            for construct, scorer in pairs
            if f"{scorer}:{construct}" not in own
            and (name == construct if name else construct not in own)
        ]
        if not left and (not name or any(name == construct for construct, _ in pairs)):
            return WithoutEffect(f"--scale {text}", "other --scale options name all that it is for")
    return None


def _kinds(texts: Sequence[str], facts: Facts) -> WithoutEffect | None:
    if facts.scores is None and not facts.compares:
        return WithoutEffect(_typed("--kind", texts), "the file has no scores")
    twice = _repeated(text.rpartition("=")[0] for text in texts)
    if twice is not None:
        return WithoutEffect(_typed("--kind", texts), f"the kind of {twice} is named twice")
    return None


def _same_judge(texts: Sequence[str], facts: Facts) -> WithoutEffect | None:
    del facts
    for text in texts:
        if len([name for name in text.split(",") if name.strip()]) < 2:
            return WithoutEffect(
                f"--same-judge {text}",
                "one run alone is the judge that it is anyway",
                "name two or more, as in --same-judge RUN,RUN",
            )
    return None


def _columns_of_scores(value: Any, facts: Facts) -> WithoutEffect | None:
    """The rule of `doctor`: columns of judges and raters describe scores."""
    if facts.scores is None:
        del value
        return WithoutEffect("An option that describes columns", "the file has no scores")
    return None


def _baseline(value: Any, facts: Facts) -> WithoutEffect | None:
    if any(threshold.needs_baseline for threshold in facts.thresholds):
        return None
    return WithoutEffect(
        f"--baseline {value}",
        "no threshold has allowed_drop or allowed_rise, which compare with it",
        "add one to the thresholds",
    )


def _judged(value: Any, facts: Facts) -> WithoutEffect | None:
    if any(name.startswith("ppi_") for name in facts.planned):
        return None
    return WithoutEffect(
        f"--judged {value}",
        "only corrected means depend on it, and none is planned",
        "plan one: --wanted ppi_mean=POINTS or --claim ppi_difference=POINTS",
    )


def _claims_rule(option: str) -> Rule:
    def rule(value: Any, facts: Facts) -> WithoutEffect | None:
        if facts.claims:
            return None
        return WithoutEffect(
            f"{option} {value}",
            "only claims of differences are corrected by it, and none is planned",
            "plan such a claim, as --claim judge_difference=0.1",
        )

    return rule


def _components_rule(option: str) -> Rule:
    def rule(value: Any, facts: Facts) -> WithoutEffect | None:
        if not facts.drawn:
            return None
        return WithoutEffect(
            f"{option} {value}",
            "the studies are drawn from the pilot's own queries",
            "name what to plan for, as --claim choose_between_responses=0",
        )

    return rule


def _planned_level(value: Any, facts: Facts) -> WithoutEffect | None:
    return None if facts.levels else WithoutEffect(f"--level {value}", "no answer depends on it")


def _pilot_rule(option: str) -> Rule:
    def rule(value: Any, facts: Facts) -> WithoutEffect | None:
        if facts.pilot:
            return None
        shown = _typed(option, value) if isinstance(value, tuple) else f"{option} {value}"
        return WithoutEffect(shown, "there is no pilot", "name a study or a table as pilot")

    return rule


def _planned_scales(texts: Sequence[str], facts: Facts) -> WithoutEffect | None:
    if facts.pilot:
        return _scales(texts, facts)
    named = [text for text in texts if "=" in text]
    if named:
        return WithoutEffect(
            _typed("--scale", named),
            "there is no pilot whose constructs have names",
            "give the planned scale: --scale MIN:MAX",
        )
    if len(texts) > 1:
        return WithoutEffect(_typed("--scale", texts[1:]), "there is one planned scale")
    return None


def _measures(value: Sequence[str], facts: Facts) -> WithoutEffect | None:
    absent = [name for name in value if name not in facts.measures]
    if not absent:
        return None
    present = ", ".join(facts.measures) or "none"
    return WithoutEffect(
        _typed("--measure", absent),
        "no two judges can be compared by it on this input",
        f"name one that can be computed: {present}",
    )


def _typed(option: str, texts: Iterable[str]) -> str:
    return " ".join(f"{option} {text}" for text in texts)


def _repeated(names: Iterable[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


_COLUMNS = ("judge_columns", "human_columns", "id_column", "query_column", "system_column",
            "construct_column")  # fmt: skip
#: Settings on which no answer depends: options of a report alone.
OF_REPORTS = ("ac_lambda", "second_metrics", "published", "overall", "without_unopened",
              "target_width")  # fmt: skip
_SETTINGS = tuple(
    name
    for name in (*(setting.name for setting in fields(AnalysisSettings)), "seed")
    if name not in OF_REPORTS
)

_TABLE: Mapping[str, Rule] = {
    **dict.fromkeys(_COLUMNS, _by_reader),
    # The reader refuses a word that no column has.
    "word_values": _by_reader,
    "scales": _scales,
    "kinds": _kinds,
    "as_json": _always,
}
#: Refused without a second file, and where they change nothing.
_OF_TWO_FILES = dict.fromkeys(("on_column", "allow_unmatched"), _by_reader)
#: By command, the rule of each parameter that is an option.
OPTIONS: Mapping[str, Mapping[str, Rule]] = {
    "report": {
        **_TABLE,
        **_OF_TWO_FILES,
        **dict.fromkeys(_SETTINGS, _by_context),
        **dict.fromkeys(("layout", "hypotheses", *OF_REPORTS), _by_context),
        **dict.fromkeys(("preferences", "preference_scale"), _by_reader),
        **dict.fromkeys(("out", "title", "verify", "full", "show", "text"), _always),
        "same_judge": _same_judge,
    },
    "check": {
        **_TABLE,
        **_OF_TWO_FILES,
        **dict.fromkeys(_SETTINGS, _by_context),
        **dict.fromkeys(("thresholds", "required"), _by_reader),
        "baseline": _baseline,
    },
    "plan": {
        **_TABLE,
        **_OF_TWO_FILES,
        **dict.fromkeys(
            ("wanted", "claims", "queries", "raters", "minutes", "assurance", "runs", "seed",
             "out"),
            _always,
        ),
        "components": _components_rule("--components"),
        "responses": _components_rule("--responses"),
        "level": _planned_level,
        **{
            name: _pilot_rule("--" + name.removesuffix("_column").removesuffix("_columns"))
            for name in _COLUMNS
        },
        "word_values": _pilot_rule("--values"),
        "construct_column": _pilot_rule("--construct-column"),
        "construct": _pilot_rule("--construct"),
        "scorer": _pilot_rule("--scorer"),
        "kinds": _pilot_rule("--kind"),
        "scales": _planned_scales,
        "judged": _judged,
        "n_constructs": _claims_rule("--n-constructs"),
        "n_judges": _claims_rule("--n-judges"),
    },
    "rank": {
        # --judge names judges of any table, and columns with --human.
        **{name: rule for name, rule in _TABLE.items() if name != "judge_columns"},
        "judges": _by_reader,
        "measures": _measures,
        "out": _always,
    },
    "doctor": {
        **_TABLE,
        **_OF_TWO_FILES,
        **dict.fromkeys((*_COLUMNS, "word_values"), _columns_of_scores),
    },
}  # fmt: skip
