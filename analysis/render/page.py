"""report.html: one file, without scripts and network access."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.core.resampling import PERCENTILE_FROM
from analysis.render.compact_svg import shared_styles, with_classes
from analysis.render.decision_words import answers_reading
from analysis.render.document import Document
from analysis.render.first_screen import answers_by_judge, next_steps, picture
from analysis.render.formatting import counted, listed
from analysis.render.glossary import Marked, terms_of
from analysis.render.verdict_notes import reading

_MINUS = re.compile(r"(?<![\w.])-(?=[\d.])")
_SUBJECT = re.compile(r"(\w+)(?=[:,])")
_INTERVAL = re.compile(r"\[([-\d.]+), ([-\d.]+)\]")


def page(document: Document, full: bool = False) -> str:
    """The report as HTML; all texts from data are escaped.

    It links to its data in the folder `tables`, which `write_document` writes next to it. With
    `full` nothing is folded, and tables and rows in detail are shown too.
    """
    names = document.analysis.scores.construct_names
    shown = picture(document)
    shared = _shared_notes(document)
    styles = shared_styles(d.svg for figure in document.figures for d in figure.drawings)
    return (
        _environment()
        .get_template("report.html")
        .render(
            document=document,
            analysis=document.analysis,
            css=Markup(_css() + _rules(styles)),  # noqa: S704  (our own files)
            drawn=partial(_inline, styles=styles),
            summary=summary(document),
            reading=reading(document.analysis),
            names=names,
            open=" open" if full else "",
            judges=answers_by_judge(document),
            answers_reading=_answers_reading(document),
            scales=_scales(document),
            picture=shown,
            next_steps=next_steps(document),
            shared_notes=_with_constructs(shared),
            own_notes=lambda verdict: [
                n for n in verdict.notes if (verdict.scorer, n) not in shared
            ],
            contents=_contents,
            marked=partial(Marked, names),
            terms=terms_of(_sentences(document)),
            full_names={key: name for key, name in names.items() if key != name},
            full=document.analysis.scores.full_name,
            full_first=partial(_full_first, names=names),
            percentile_from=PERCENTILE_FROM,
            checks=document.provenance.get("verification"),
        )
    )


def _answers_reading(document: Document) -> str | None:
    """What the answers mean, if there are any."""
    asked = any(d.answer != "not_applicable" for d in document.decisions)
    return answers_reading(document.analysis, document.decisions) if asked else None


def _scales(document: Document) -> str:
    """The declared scales, each with the constructs that have it."""
    constructs: dict[str, list[str]] = {}
    for scale in document.scales:
        name = scale["construct"] + (f" ({scale['scorer']})" if scale["scorer"] else "")
        declared = "not declared"
        if scale["level"]:
            declared = f"{scale['min']:g} to {scale['max']:g}, {scale['level']}"
        constructs.setdefault(declared, []).append(name)
    return "; ".join(f"{', '.join(names)}: {scale}" for scale, names in constructs.items())


_Notes = dict[tuple[str, str], list[str]]
"""Constructs by scorer and note."""


def _shared_notes(document: Document) -> _Notes:
    """Notes that verdicts on several constructs of a scorer have."""
    constructs: _Notes = {}
    for verdict in document.verdicts:
        for note in dict.fromkeys(verdict.notes):
            constructs.setdefault((verdict.scorer, note), []).append(verdict.construct)
    return {key: names for key, names in constructs.items() if len(names) > 1}


def _with_constructs(shared: _Notes) -> list[tuple[str, str]]:
    """Each note once, with the constructs, and the scorer where there are several."""
    several = len({scorer for scorer, _ in shared}) > 1
    return [
        (f"{scorer}, {listed(names)}" if several else listed(names), note)
        for (scorer, note), names in shared.items()
    ]


def _sentences(document: Document) -> Iterator[str]:
    """The sentences of the page in which terms are explained."""
    for judge in answers_by_judge(document):
        yield from (line for part in judge.opening.constructs for line in part.agreement)
        yield from (d.sentence for row in judge.rows for d in row.decisions)
    for verdict in document.verdicts:
        yield verdict.sentence
        yield from verdict.notes
    for chapter in document.chapters:
        yield from chapter.reading


def summary(document: Document) -> str:
    """One line on what was analyzed."""
    scores = document.analysis.scores
    kinds = document.analysis.scorer_kinds
    responses = scores.frame["response_id"].nunique()
    parts = []
    if responses:
        parts.append(counted(responses, "response"))
    context = document.analysis.context
    queries = len({*scores.queries, *context.rated_queries, *context.compared_queries})
    parts.append(counted(queries, "query", "queries"))
    if scores.systems:
        parts.append(counted(len(scores.systems), "system"))
    for kind, noun in (("human", "rater"), ("judge", "judge"), ("metric", "metric")):
        names = [name for name, scorer_kind in kinds.items() if scorer_kind == kind]
        derived = sum(name in document.analysis.options.derived_from for name in names)
        if len(names) > derived:
            parts.append(counted(len(names) - derived, noun))
        if derived:
            # Juries and means of distributions are not judges themselves.
            parts.append(f"{counted(derived, 'scorer')} derived from {noun}s")
    return listed(parts, most=8)


def typographic(text: str) -> str:
    """A minus sign before a number in place of a hyphen, and intervals that no line breaks."""
    return _MINUS.sub("−", _INTERVAL.sub("[\\1,\u00a0\\2]", text))


@cache
def _css() -> str:
    return files("analysis.render").joinpath("report.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("analysis.render", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {"minus": typographic, "code": _code}
    environment.filters.update(filters)
    return environment


def _full_first(sentence: str, names: Mapping[str, str]) -> str:
    """A sentence that begins with the key of a construct, with its full name there."""
    match = _SUBJECT.match(sentence)
    if match is None or not names.get(match[1]):
        return sentence
    return names[match[1]] + sentence[match.end(1) :]


def _code(text: str) -> Markup:
    """The text, escaped, with what is between backticks as code."""
    parts = text.split("`")
    marked = (Markup("<code>{}</code>").format(p) if n % 2 else p for n, p in enumerate(parts))
    return Markup("").join(marked)


def _contents(figures: int, tables: int) -> str:
    parts = [(figures, "figure"), (tables, "table")]
    return " and ".join(counted(number, noun) for number, noun in parts if number)


def _rules(styles: Mapping[str, str]) -> str:
    return "".join(f".{name}{{{style}}}" for style, name in styles.items())


def _inline(svg: str, styles: Mapping[str, str]) -> Markup:
    # ElementTree wrote it, and escaped every text in it.
    return Markup(with_classes(svg, styles))  # noqa: S704
