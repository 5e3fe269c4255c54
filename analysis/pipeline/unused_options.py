"""Options that a caller gave and that nothing in the input can use: an error, for each option.

Every field of `Options` has a rule in `RULES`, which says why the field's value cannot change any
figure of an input, or None where it can. A field without a rule is a fault of the program, which a
test finds. Topics that the first lines of a report do not need are imported by the rule that asks
them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from analysis.core.context import ComparedScores, Context
from analysis.core.cuts import PEOPLE, gives_pass_or_fail
from analysis.core.errors import AnalysisError, did_you_mean
from analysis.core.options import Options
from analysis.topics.binary.pass_fail_values import people_decide


class Unused(NamedTuple):
    """Why an option has no effect, and what to do instead of leaving it out, if anything."""

    why: str
    remedy: str = ""
    entry: str | None = None
    """Key of the entry, where an option is a table and others of its entries are used."""


Rule = Callable[[Context, Any], Unused | None]


class Spelling(NamedTuple):
    """How messages write options and values: for a command, or for Python."""

    option: Callable[[str], str]
    option_with_value: Callable[[str, Any], str]


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _words(name: str, value: object) -> str:
    option = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return option if value else f"--no-{name.replace('_', '-')}"
    if isinstance(value, Mapping):
        return " ".join(f"{option} {key}={_shown(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        return f"{option} {','.join(map(_shown, value))}"
    return f"{option} {_shown(value)}"


#: As a command is typed, and as Python is written.
COMMAND = Spelling(lambda name: "--" + name.replace("_", "-"), _words)
PYTHON = Spelling(lambda name: f"{name}=", lambda name, value: f"{name}={value!r}")


def check_unused(context: Context, given: Collection[str], spelling: Spelling = COMMAND) -> None:
    """Check that each of these fields of the options can change a figure of the input.

    Raises
    ------
    AnalysisError
        One cannot; the message names it, the reason and the remedy. All such options are listed.
    """
    faults = []
    for field in fields(Options):
        if field.name not in given:
            continue
        value = getattr(context.options, field.name)
        # What is switched off, or left empty, asks for nothing.
        if value is None or value is False or value in ((), {}):
            continue
        found = RULES[field.name](context, value)
        if found is not None:
            shown = value if found.entry is None else {found.entry: value[found.entry]}
            text = without_effect(spelling.option_with_value(field.name, shown), *found[:2])
            faults.append(text)
    if faults:
        raise AnalysisError("\n".join(faults))


def without_effect(option: str, why: str, remedy: str = "") -> str:
    """The message about an option that has no effect."""
    instead = f", or {remedy}" if remedy else ""
    return f"{option} has no effect here: {why}. Leave it out{instead}."


def _always(context: Context, value: object) -> None:
    """The option applies to every input."""
    del context, value


def _examined(context: Context) -> Iterator[ComparedScores]:
    """Judges, or metrics where there are none, on constructs that people rated."""
    return context.scored("examined")


NOBODY = Unused(
    "no judge or metric has scores on a construct that people rated",
    "give a table with scores of both",
)


def _reference(context: Context, value: str) -> Unused | None:
    if value == "adjudicated":
        if any(data.adjudicated for data in context.whole.values()):
            return None
        return Unused(
            "there is no adjudicated value",
            "name the scorer of the adjudicated values as such, with the kind adjudicated",
        )
    if any(data.raters for data in context.whole.values()):
        return None
    return Unused("there is no rating of a person")


def _ac_lambda(context: Context, value: float) -> Unused | None:
    from analysis.topics.answer_correctness.estimates import CONSTRUCT

    del value
    data = context.whole.get(CONSTRUCT)
    if data is not None and data.scorers:
        return None
    return Unused(
        f"no judge or metric has scores on a construct {CONSTRUCT}, of which it is the "
        "composed form"
    )


def _names_scorers(context: Context, value: Collection[str]) -> Unused | None:
    """The rule of options that name scorers, which must exist."""
    unknown = [name for name in value if name not in context.scores.scorer_kinds]
    if context.scores.frame.empty or not unknown:
        return None
    hint = did_you_mean(unknown[0], tuple(context.scores.scorer_kinds))
    return Unused(f"there is no scorer {unknown[0]!r}.{hint}".rstrip(".?"), "name a scorer")


def _hypotheses(context: Context, value: Collection[object]) -> Unused | None:
    del value
    if len(context.scores.systems) > 1:
        return None
    return Unused("the table has no two systems to compare", "name the column with the systems")


def _second_metrics(context: Context, value: Collection[str]) -> Unused | None:
    from analysis.topics.validity.judge_constructs import metric_set_members

    first, second = metric_set_members(context)
    for name in value:
        if not any(name in member for member in second):
            known = dict.fromkeys(name for member in (*first, *second) for name in member)
            return Unused(
                f"no judge or metric is called {name!r} or has scores on a construct of that name",
                f"name some of {', '.join(known)}" if known else "",
            )
    if first:
        return None
    return Unused("no judge or metric is left outside the second set", "name fewer")


def _published(context: Context, value: bool) -> Unused | None:
    from analysis.statistics.distribution.published import SYSTEMS, published

    del value
    constructs = published("table7_12_correlations")["order"]
    if any(key in constructs for key in context.scores.constructs) and any(
        name in SYSTEMS for name in context.scores.systems
    ):
        return None
    return Unused(
        f"the figures of the CCRS paper are of systems {SYSTEMS[0]} to {SYSTEMS[-1]} on "
        f"{', '.join(constructs)}, and the input has no such system or no such construct"
    )


def _order_margin(context: Context, value: float) -> Unused | None:
    del value
    for scored in _examined(context):
        given = np.isfinite(scored.data.ratings_given).sum(axis=1)
        if (given > 1).any():
            return None
    preferences = context.preferences
    if preferences is not None and not preferences.frame.empty:
        # Metrics and judges are compared on preferences by the same margin.
        return None
    return Unused(
        "it is how far a judge may be below a rater, and no two people rated the same response on "
        "a construct that a judge scored",
        "give the ratings of a second person",
    )


def _bias_margin(context: Context, value: float) -> Unused | None:
    del value
    withheld = []
    for scored in _examined(context):
        if context.nominal([scored.construct]):
            withheld.append(f"{scored.construct} only names categories")
        elif scored.withheld is None:
            return None
        else:
            withheld.append(scored.withheld)
    return Unused(f"no bias in points can be computed: {withheld[0]}") if withheld else NOBODY


def _raters_and_judge(context: Context, value: float) -> Unused | None:
    """The rule of the alternative annotator test."""
    del value
    if context.options.reference == "adjudicated":
        return Unused("the alternative annotator test is on raters, not on adjudicated values")
    withheld = []
    for scored in context.scored("judges"):
        if (np.isfinite(scored.data.ratings_given).sum(axis=1) > 1).any():
            if scored.withheld is None:
                return None
            withheld.append(scored.withheld)
    if withheld:
        return Unused(f"the alternative annotator test cannot be done: {withheld[0]}")
    return Unused(
        "the alternative annotator test compares a judge with several people, and no two rated "
        "the same response on a construct that a judge scored",
        "give the ratings of further people",
    )


def _true_rate(context: Context, value: float) -> Unused | None:
    del value
    scored = list(_examined(context))
    if any(people_decide(context, each.construct) for each in scored):
        return None
    if not scored:
        return NOBODY
    return Unused(
        "people pass or fail no response", "declare from which value on they pass: a cut of human"
    )


def _cut(context: Context, value: Mapping[str, float]) -> Unused | None:
    for key in value:
        why = _cut_unused(context, key, value)
        if why is not None:
            return why._replace(entry=key)
    return None


def _cut_unused(context: Context, key: str, cuts: Mapping[str, float]) -> Unused | None:
    scored = list(context.scored())
    machines = {each.scorer for each in scored} | set(context.scores.scorer_kinds)
    name, only = key, None
    if key not in machines and key != PEOPLE:
        name, _, only = key.rpartition(":")
    why = NOBODY
    for each in scored:
        if only not in {None, each.construct} or name not in {PEOPLE, each.scorer}:
            continue
        if only is None and f"{name}:{each.construct}" in cuts:
            why = Unused(f"{name} has a cut of its own on {each.construct}")
        elif context.nominal([each.construct]):
            why = Unused(f"{each.construct} only names categories, which have no order")
        elif name == PEOPLE:
            scale = context.human_scale(each.construct)
            if scale is None or not scale.binary:
                return None
            why = Unused(f"people pass or fail {each.construct}, on {scale}: nothing is to be cut")
        elif gives_pass_or_fail(context.scores, each.construct, name):
            why = Unused(f"{name} passes or fails {each.construct}: nothing is to be cut")
        elif people_decide(context, each.construct):
            return None
        else:
            why = Unused(
                f"people grade {each.construct}",
                f"declare from which value on they pass as well: a cut of {PEOPLE}",
            )
    if why is NOBODY and name != PEOPLE:
        return Unused(
            f"{name} has no scores" + (f" on {only}" if only else "") + " that people rated as well"
        )
    return why


def _overall(context: Context, value: str) -> Unused | None:
    from analysis.topics.correction.composite import has_composite

    if value not in context.whole:
        hint = did_you_mean(value, tuple(context.whole)).rstrip("?")
        why = f"there is no construct {value!r}.{hint}".rstrip(".")
        return Unused(why, f"name one of {', '.join(context.whole)}")
    data = context.rated.get(value)
    if data is None or data.reference_missing:
        return Unused(f"nobody rated {value}")
    if has_composite(context, value):
        return None
    return Unused(f"{value} cannot be made of other constructs: fewer than two others have scores")


def _layout(context: Context, value: str) -> Unused | None:
    if context.layout_left_out is not None:
        return None
    return Unused(f"all values of people with a layout have the layout {value}")


def _without_unopened(context: Context, value: bool) -> Unused | None:
    del value
    frame = context.scores.frame
    if (
        "passages_opened" in frame
        and (frame["passages_opened"].eq("no") & frame["scorer_kind"].eq("human")).any()
    ):
        return None
    return Unused("no rating is recorded as given before a passage was opened")


def _target_width(context: Context, value: float) -> Unused | None:
    del value
    for data in context.whole.values():
        if data.examined and not data.reference_missing and np.isnan(data.reference).any():
            return None
    if not any(data.examined and not data.reference_missing for data in context.whole.values()):
        return NOBODY
    return Unused(
        "it is the width of corrected means, and people rated every response",
        "give scores of responses that nobody rated as well",
    )


#: Why a value of a field cannot be used, by field.
RULES: Mapping[str, Rule] = {
    "reference": _reference,
    "resamples": _always,
    "seed": _always,
    "level": _always,
    "ac_lambda": _ac_lambda,
    "scorer_notes": _names_scorers,
    "derived_from": _always,
    "low_is_good": _names_scorers,
    "not_computed": _always,
    # A fact of each run; that --same-judge names one alone is found where it is read.
    "runs": _always,
    # A scorer without a scale that differs is refused where the table is mapped.
    "map": _always,
    "instruction_mismatches": _always,
    "hypotheses": _hypotheses,
    "second_metrics": _second_metrics,
    "published_figures": _always,
    "published": _published,
    "non_inferiority_margin": _order_margin,
    "bias_margin": _bias_margin,
    "alt_test_epsilon": _raters_and_judge,
    "true_rate": _true_rate,
    "cut": _cut,
    "overall": _overall,
    "layout": _layout,
    "without_unopened": _without_unopened,
    "target_width": _target_width,
    "interim_analyses": _always,
}
