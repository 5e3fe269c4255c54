"""The list of statistics in analysis/README.md, made from their declarations.

`python -m tests.analysis.pipeline.statistics_page` writes it into the page.
"""

from pathlib import Path

from analysis.core.statistic import Statistic
from analysis.pipeline import sections

PAGE = Path(__file__).resolve().parents[3] / "analysis" / "README.md"
BEGIN, END = "<!-- statistics: begin -->", "<!-- statistics: end -->"

_BETTER = {"higher": "higher", "lower": "lower", "0": "near 0", "1": "near 1", "neither": ""}


def listed() -> str:
    """Return the list in Markdown: a heading and a table for each section of the report."""
    parts = []
    for section in sections.SECTIONS:
        if section.statistics:
            rows = [_row(statistic) for statistic in section.statistics]
            head = (
                "| id | name | definition and convention | range | better | scopes "
                "| intervals for | nominal scales | source |"
            )
            parts.append("\n".join([f"### {section.title}", "", head, "|" + "---|" * 9, *rows]))
    return "\n\n".join(parts)


def page_with(text: str, statistics: str) -> str:
    """Return a page with this list between its markers."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{statistics}\n\n{END}{after}"


def _row(statistic: Statistic) -> str:
    cells = (
        f"`{statistic.id}`",
        statistic.heading,
        statistic.definition,
        _range(statistic),
        _BETTER[statistic.better],
        ", ".join(statistic.scopes),
        ", ".join(target.replace("_", " ") for target in statistic.targets),
        "yes" if statistic.nominal else "",
        statistic.source,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _range(statistic: Statistic) -> str:
    low, high = (None if end is None else f"{end:g}" for end in statistic.range)
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"{low} or more" if low is not None else f"up to {high}" if high is not None else ""


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), listed()), encoding="utf-8")
