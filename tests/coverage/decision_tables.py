"""The manual's tables about answers, made from decision_margins.csv and one_rater.csv.

`python -m tests.coverage.decision_tables` writes them into the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.coverage.choice_parts import POWER, RULES
from tests.coverage.decision_margins import (
    BANDS,
    LIKE_THESE,
    PLAIN,
    SPREADS,
    THESE,
    Counts,
    Key,
    read,
)
from tests.coverage.tables import read_rows

PAGE = Path(__file__).parents[2] / "data/manual/reference/decision_errors.md"
BEGIN, END = "<!-- answers: begin -->", "<!-- answers: end -->"

_TARGETS = {THESE: "these raters", LIKE_THESE: "raters like these"}


def tables() -> str:
    """Size, power, chance and the judge beside one rater, in Markdown."""
    margins = read()
    parts = [
        (
            "Simulated studies (`python -m tests.coverage.decision_margins`; queries x systems x "
            "raters; tests/coverage/decision_margins.csv has the counts). **Size**: a judge "
            "exactly at a margin, so that a yes is false and so is a no. `likely` is what else "
            "such a judge gets as good news. `plain yes` and `plain no` are those of the plain "
            "reference on the same studies (the first 100 of a cell): queries resampled, a 90% "
            "percentile interval of one figure a use, nothing corrected, raters taken as they are "
            "(tests/coverage/plain_bootstrap.py). The Monte Carlo standard error of .05 is "
            f"{_error(margins, 'size')}, of the plain reference {_error(margins, PLAIN + 'size')}. "
            f"{_mean_sizes(margins)}"
        ),
        "\n".join(_answers(margins, "size", "at the margin")),
        (
            "**Power**: the share of studies in which the judge as a whole gets a yes, and a no. "
            f"The standard error of .5 is {_error(margins, 'power', 0.5)}, of the plain reference "
            f"{_error(margins, PLAIN + 'power', 0.5)}."
        ),
        "\n".join(_answers(margins, "power", "use, judge")),
        _parts_of_ranking(),
        (
            "**Chance**: of the answers with a probability, the mean probability and the share "
            "that is true, over judges spread around the margins (the logarithm of the error with "
            "a standard deviation of .5, .8 or .25, the bias with one of 6, 10 or 3 points)."
        ),
        "\n".join(_chances(margins)),
        (
            "**One rater** (`python -m tests.coverage.one_rater`, 2,000 studies a cell): a judge "
            "exactly at the threshold, and the share with a yes."
        ),
        "\n".join(_one_rater()),
    ]
    return "\n\n".join(parts)


def _error(margins: dict[Key, Counts], part: str, share: float = 0.05) -> str:
    fewest = min(counts["studies"] for key, counts in margins.items() if key[0] == part)
    return _share((share * (1 - share) / fewest) ** 0.5, 3)


def _mean_sizes(margins: dict[Key, Counts]) -> str:
    """The mean and largest share of false answers, beside the plain reference's."""
    parts = []
    for answer in ("yes", "no"):
        ours, plain = (
            [c[answer] / c["studies"] for key, c in margins.items() if key[0] == part]
            for part in ("size", PLAIN + "size")
        )
        parts.append(
            f"a false {answer} in {_share(sum(ours) / len(ours), 3)} on average and at most "
            f"{_share(max(ours))}, by the plain reference in {_share(sum(plain) / len(plain), 3)} "
            f"and at most {_share(max(plain))}"
        )
    return f"Over the table: {'; '.join(parts)}."


def _share(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("0.", ".", 1)


def _answers(margins: dict[Key, Counts], part: str, head: str) -> Iterator[str]:
    yield f"| {head} | for | study | yes | no | likely | plain yes | plain no |"
    yield "|---|---|---|---|---|---|---|---|"
    for (of, kind, target, design), counts in sorted(margins.items(), key=_in_order):
        if of == part:
            beside = margins[PLAIN + part, kind, target, design]
            shares = [
                _share(of_whom[word] / of_whom["studies"])
                for of_whom, words in ((counts, ("yes", "no", "likely")), (beside, ("yes", "no")))
                for word in words
            ]
            name = kind.replace("_", " ")
            yield f"| {name} | {_TARGETS[target]} | {design} | {' | '.join(shares)} |"


def _in_order(row: tuple[Key, Counts]) -> tuple[str, str, list[int]]:
    """By kind, target, raters and queries."""
    (_, kind, target, design), _counts = row
    sizes = [int(number.split()[-1]) for number in design.split(" x ")] if " x " in design else []
    return kind, target, sizes[::-1]


def _chances(margins: dict[Key, Counts]) -> Iterator[str]:
    known = {key[3] for key, counts in margins.items() if key[0] == "chance"}
    bands = [band for low, high in BANDS if (band := f"{low:g} to {high:g}") in known]
    yield f"| spread, use | {' | '.join(bands)} |"
    yield "|" + "---|" * (len(bands) + 1)
    for spread in SPREADS:
        for use in ("choose_between_responses", "report_level"):
            cells = []
            for band in bands:
                counts = margins.get(("chance", f"{spread}: {use}", THESE, band))
                if counts is None:
                    cells.append("")
                    continue
                true = _share(counts["yes"] / counts["studies"])
                cells.append(f"{_share(counts['mean'])}: {true} of {counts['studies']:g}")
            yield f"| {spread}: {use.replace('_', ' ')} | {' | '.join(cells)} |"


def _parts_of_ranking() -> str:
    """Where the rule for ranking loses power beside the plain reference, and why it stays."""
    rows = read_rows("choice_parts.csv")
    power = next(row for row in rows if row["kind"] == POWER)
    yes = {name: _share(float(power[name])) for name in RULES}
    sizes = [row for row in rows if row["kind"] != POWER]
    largest = {name: _share(max(float(row[name]) for row in sizes)) for name in RULES}
    return (
        f"**Where ranking loses power** ({power['design']}; `python -m tests.coverage.choice_parts`"
        f"): on five constructs a judge equal to a rater gets a yes in {yes['rule']} of the "
        f"studies, in {yes['no_pair']} if no pair had to be shown with the same sign, and in "
        f"{yes['no_correction']} if nothing were corrected for choosing the system on the same "
        "responses. The correction stays: where several systems are exactly 5 points worse than "
        "the best, the judge picks among them and one more system is far below, a yes is false in "
        f"up to {largest['no_correction']} of the studies without it, and in at most "
        f"{largest['rule']} with it. A correction for the estimated correlation of judge and "
        f"people would give a yes in {yes['estimated']}, and a false one in at most "
        f"{largest['estimated']}; it is not used, since only Sidak's inequality holds whatever "
        "the spread of the systems."
    )


def _one_rater() -> Iterator[str]:
    rows = [r for r in read_rows("one_rater.csv") if "perfect" not in r["kind"]]
    sizes = list(dict.fromkeys(row["responses"] for row in rows))
    yield f"| judge | use | {' | '.join(f'{size} responses' for size in sizes)} |"
    yield "|" + "---|" * (len(sizes) + 2)
    for kind, use in dict.fromkeys((row["kind"], row["use"]) for row in rows):
        own = [int(r["yes"]) / int(r["studies"]) for r in rows if r["kind"] == kind]
        yield f"| {kind} | {use} | {' | '.join(_share(share, 3) for share in own)} |"


def page_with(text: str, made: str) -> str:
    """A page with these tables between its markers."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), tables()), encoding="utf-8")
