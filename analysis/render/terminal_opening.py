"""The first lines of a report on the terminal: agreement, then for what each judge can be used."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from analysis.decisions.described import Described
from analysis.decisions.records import UseDecision
from analysis.render.answer_lines import AnswerLine
from analysis.render.decision_words import COLUMNS, answers_reading, in_one_cell
from analysis.render.opening import JudgeOpening, in_one_line, table_lines

_COLORS: dict[str, str] = {
    "yes": "green", "likely": "green", "open": "bright_black", "unlikely": "red", "no": "red",
    "not_applicable": "bright_black",
}  # fmt: skip
_BOLD: tuple[str, ...] = ("yes", "no")

_WIDTH = 80


def print_opening(
    described: Described, opening: JudgeOpening, decisions: Sequence[UseDecision]
) -> None:
    """What was compared, the agreement on each construct, and the answers for one judge."""
    click.echo()
    say(opening.compared)
    several = len(opening.constructs) > 1
    for of in opening.constructs:
        indent = "    " if several else "  "
        for line in [in_one_line(of)] if several else of.agreement:
            say(line, "  ")
        for row in table_lines(of.confusion):
            click.echo(f"{indent}{row}")
        for pattern in of.patterns:
            say(f"Note: {pattern}.", indent)
    asked = [d for d in decisions if d.answer != "not_applicable"]
    if asked:
        click.echo()
        click.echo(f"Can {opening.scorer} be used to ...")
        if several:
            _table(described, asked)
            click.echo()
        _lines(opening.answers)
    for line in filter(None, (opening.remarks, opening.not_asked)):
        say(line, "  ")


def print_reading(described: Described, decisions: Sequence[UseDecision]) -> None:
    """What yes and no mean."""
    if any(d.answer != "not_applicable" for d in decisions):
        click.echo()
        say(answers_reading(described, decisions))


def _table(described: Described, decisions: Sequence[UseDecision]) -> None:
    """A row for each construct, the judge as a whole last; of two answers that for these raters."""
    uses = [use for use in COLUMNS if any(d.use == use for d in decisions)]
    first = {(d.construct, d.use): d for d in reversed(decisions)}
    both = any(d.target == "raters_like_these" for d in decisions)
    heads = ["these raters" * both, *(COLUMNS[use].lower() for use in uses)]
    keys = [*dict.fromkeys(d.construct for d in decisions if d.construct), None]
    table = [[(head, "") for head in heads]]
    table += [
        [(_name(described, key), ""), *(_in_color(first.get((key, use))) for use in uses)]
        for key in keys
    ]
    _print_columns(table)


def _name(described: Described, construct: str | None) -> str:
    return "judge as a whole" if construct is None else described.full_name(construct)


def _in_color(decision: UseDecision | None) -> tuple[str, str]:
    """The text of a cell, and the answer whose color it has."""
    return in_one_cell(decision), "" if decision is None else decision.answer


def _print_columns(table: Sequence[Sequence[tuple[str, str]]]) -> None:
    """Rows of texts, each with the answer whose color it has, as equal columns."""
    widths = [max(len(text) for text, _ in column) for column in zip(*table, strict=True)]
    for row in table:
        shown = [
            _styled(text, answer) + " " * (width - len(text))
            for (text, answer), width in zip(row, widths, strict=True)
        ]
        click.echo(f"  {'  '.join(shown).rstrip()}")


def _styled(text: str, answer: str) -> str:
    return (
        click.style(text, fg=_COLORS[answer], bold=answer in _BOLD) if answer in _COLORS else text
    )


def _lines(answers: Sequence[AnswerLine]) -> None:
    """Each use with its answer and the figure that decides, and what would settle it."""
    for answer in answers:
        bold = answer.answer in _BOLD
        word = click.style(answer.word, fg=_COLORS[answer.answer], bold=bold)
        say(f"{answer.name}: {word}. {answer.why}", "  ")
        if answer.settle is not None:
            say(f"{answer.settle}.", "      ")
        if answer.on_some is not None:
            say(answer.on_some, "      ")


def say(text: str, indent: str = "") -> None:
    """A paragraph; broken into lines on a terminal only, so that programs find it on one."""
    if sys.stdout.isatty():
        text = click.wrap_text(text, _WIDTH, indent, f"{indent}  ")
    else:
        text = f"{indent}{text}"
    click.echo(text)
