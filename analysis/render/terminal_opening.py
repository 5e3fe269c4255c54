"""The first lines of a report on the terminal: agreement, then for what each judge can be used."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from analysis.decisions.described import Described
from analysis.decisions.records import Answer, UseDecision
from analysis.render.decision_words import COLUMNS, answers_reading, in_one_cell
from analysis.render.opening import AnswerLine, JudgeOpening, in_one_line, table_lines

_COLORS: dict[Answer, str] = {
    "yes": "green", "likely": "green", "open": "bright_black", "unlikely": "red", "no": "red",
    "not_applicable": "bright_black",
}  # fmt: skip
_BOLD: tuple[Answer, ...] = ("yes", "no")

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
    """A row for each construct, the judge as a whole last."""
    constructs = list(dict.fromkeys(d.construct for d in decisions if d.construct))
    rows: list[str | None] = [*constructs, None]
    names = {
        key: "the judge as a whole" if key is None else described.full_name(key) for key in rows
    }
    room = max(map(len, names.values()))
    uses = {
        use: head.lower() for use, head in COLUMNS.items() if any(d.use == use for d in decisions)
    }
    heads, last = "  ".join(uses.values()), list(uses.values())[-1]
    click.echo(f"  {'':{room}}  {heads}")
    for key in rows:
        cells = []
        for use, head in uses.items():
            own = [d for d in decisions if (d.construct, d.use) == (key, use)]
            text = in_one_cell(own)
            blank = " " * max(0, len(head) - len(text)) if head != last else ""
            answer = own[0].answer if own else "not_applicable"
            cells.append(click.style(text, fg=_COLORS[answer], bold=answer in _BOLD) + blank)
        click.echo(f"  {names[key]:{room}}  {'  '.join(cells)}")


def _lines(answers: Sequence[AnswerLine]) -> None:
    """Each use with its answer and the figure that decides, and what would settle it."""
    for answer in answers:
        bold = answer.answer in _BOLD
        word = click.style(answer.word, fg=_COLORS[answer.answer], bold=bold)
        say(f"{answer.name}: {word}. {answer.why}", "  ")
        if answer.settle is not None:
            say(f"{answer.settle}.", "      ")


def say(text: str, indent: str = "") -> None:
    """A paragraph; broken into lines on a terminal only, so that programs find it on one."""
    if sys.stdout.isatty():
        text = click.wrap_text(text, _WIDTH, indent, f"{indent}  ")
    else:
        text = f"{indent}{text}"
    click.echo(text)
