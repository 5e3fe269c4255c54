"""Shifts by probe: how far scores move when the prompt is altered."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, Drawing, Figure
from analysis.render.forest import ForestStyle, Mark, forest, reach_of
from analysis.render.formatting import points, with_minus
from analysis.render.labels import shortened

#: Scorers and constructs drawn; the table has more. Each scorer has a color and a mark.
_SIGNS = ((ACCENT, "o", "●"), (INK, "s", "■"), (MUTED, "^", "▲"), (INK, "D", "◆"))
CONSTRUCTS_DRAWN = 8
_NAME = 24

_Pair = tuple[Estimate, Estimate]


def probe_shifts(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct, a row a probe, a mark a scorer."""
    single, joint = (
        analysis.estimates.select("probe_shift", interval=kind)
        for kind in ("single", "simultaneous")
    )
    pairs = [(a, b) for a, b in zip(single, joint, strict=True) if a.defined]
    scorers = list(dict.fromkeys(a.scorers[0] for a, _ in pairs))
    drawn = scorers[: len(_SIGNS)]
    by_construct: dict[str, list[_Pair]] = {}
    for pair in pairs:
        if pair[0].scorers[0] in drawn:
            by_construct.setdefault(pair[0].constructs[0], []).append(pair)
    by_construct = dict(list(by_construct.items())[:CONSTRUCTS_DRAWN])
    if not by_construct:
        return
    prompts = {a.scorers[0]: str(a.params["prompts"]) for a, _ in pairs}
    key = ", ".join(
        f"{sign} {name} ({prompts[name]})"
        for (_, _, sign), name in zip(_SIGNS, drawn, strict=False)
    )
    rest = scorers[len(_SIGNS) :]
    reach = reach_of(
        [e for construct_pairs in by_construct.values() for pair in construct_pairs for e in pair]
    )
    level = f"{analysis.options.level:.0%}"
    yield Figure(
        key="probe-shifts",
        title="Do scores move where they should not?",
        caption=(
            f"{key}. Score of the altered prompt minus the score of the prompt as it was, mean "
            f"over responses. Thick bars: {level} interval of each; thin bars: simultaneous "
            f"{level} intervals of all shifts of a scorer; queries resampled. 'again' is the same "
            "prompt once more."
            + (f" Not drawn, see the tables: {', '.join(rest)}." if rest else "")
        ),
        drawings=tuple(
            _draw(analysis, construct, construct_pairs, drawn, reach, f"probes-{number}")
            for number, (construct, construct_pairs) in enumerate(by_construct.items())
        ),
        data=to_frame(
            e for construct_pairs in by_construct.values() for pair in construct_pairs for e in pair
        ),
    )


def _draw(
    analysis: Analysis,
    construct: str,
    pairs: list[_Pair],
    scorers: list[str],
    reach: tuple[float, float],
    key: str,
) -> Drawing:
    probes = list(dict.fromkeys(str(a.params["probe"]) for a, _ in pairs))
    # Rows are higher where several scorers share them.
    lines = 1 + 0.5 * (len(scorers) - 1)
    marks = []
    for single, joint in pairs:
        turn = scorers.index(single.scorers[0])
        color, marker, _ = _SIGNS[turn]
        row = probes.index(str(single.params["probe"]))
        shift = -0.45 * (turn - (len(scorers) - 1) / 2) / lines
        style = {"color": color, "marker": marker, "shift": shift}
        marks += [Mark.of(row, joint, width=0.7, **style), Mark.of(row, single, **style)]
    return forest(
        key,
        f"{construct}: shift by probe",
        f"Points moved: {'; '.join(_stated(analysis, single) for single, _ in pairs)}.",
        (analysis.scores.full_name(construct),),
        [shortened(name.replace("-", " "), _NAME) for name in probes],
        marks,
        ForestStyle("points moved", row=0.17 * lines, reach=reach),
    )


def _stated(analysis: Analysis, e: Estimate) -> str:
    scale = analysis.scores.scale(e.constructs[0], e.scorers[0])
    name = str(e.params["probe"]).replace("-", " ")
    return f"{e.scorers[0]}, {name} {with_minus(points(e.value, scale, 1))}"
