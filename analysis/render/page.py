"""report.html: one file, without scripts and network access."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.core.resampling import PERCENTILE_FROM
from analysis.render.document import Document
from analysis.render.formatting import counted, listed
from analysis.render.output_files import csv_texts
from analysis.render.verdict_notes import reading

_MINUS = re.compile(r"(?<![\w.])-(?=[\d.])")
_INTERVAL = re.compile(r"\[([-\d.]+), ([-\d.]+)\]")


def page(document: Document, csv: Mapping[str, str] | None = None) -> str:
    """The report as HTML, with its CSV texts; all texts from data are escaped."""
    texts = csv_texts(document) if csv is None else csv
    return (
        _environment()
        .get_template("report.html")
        .render(
            document=document,
            analysis=document.analysis,
            css=Markup(_css()),  # noqa: S704  (our own file)
            summary=summary(document),
            reading=reading(document.analysis),
            csv={name: csv_link(text) for name, text in texts.items()},
            names=document.analysis.scores.construct_names,
            percentile_from=PERCENTILE_FROM,
            checks=document.provenance.get("verification"),
        )
    )


def summary(document: Document) -> str:
    """One line on what was analyzed."""
    scores = document.analysis.scores
    kinds = document.analysis.scorer_kinds
    responses = scores.frame["response_id"].nunique()
    parts = []
    if responses:
        parts.append(counted(responses, "response"))
    queries = len(set(scores.queries) | set(document.analysis.context.rated_queries))
    parts.append(counted(queries, "query", "queries"))
    if scores.systems:
        parts.append(counted(len(scores.systems), "system"))
    for kind, noun in (("human", "rater"), ("judge", "judge"), ("metric", "metric")):
        names = [name for name, of_scorer in kinds.items() if of_scorer == kind]
        derived = sum(name in document.analysis.options.derived_from for name in names)
        if len(names) > derived:
            parts.append(counted(len(names) - derived, noun))
        if derived:
            # Juries and means of distributions are not judges themselves.
            parts.append(f"{counted(derived, 'scorer')} derived from {noun}s")
    return listed(parts, most=8)


def csv_link(text: str) -> str:
    """The text of a table as a data URI."""
    return f"data:text/csv;charset=utf-8;base64,{b64encode(text.encode()).decode()}"


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
    filters: dict[str, Any] = {"minus": typographic, "svg": _inline}
    environment.filters.update(filters)
    return environment


def _inline(svg: str) -> Markup:
    # ElementTree wrote it, and escaped every text in it.
    return Markup(svg)  # noqa: S704
