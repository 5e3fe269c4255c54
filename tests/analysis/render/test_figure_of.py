"""Figures by declaration: panels, keys of drawings, caption and data."""

from collections.abc import Iterator

import pytest

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.pipeline.sections import SECTIONS
from analysis.render.drawing import Drawing
from analysis.render.figure_of import FigureOf, estimates_in, if_several
from analysis.render.table_of import Words
from tests.analysis.render.test_table_of import with_estimates


def by_construct(analysis: Analysis) -> Iterator[tuple[str, list[Estimate]]]:
    """Each construct with its biases."""
    biases = analysis.estimates.select("bias")
    for construct in dict.fromkeys(e.constructs[0] for e in biases):
        yield construct, [e for e in biases if e.constructs[0] == construct]


def draw(_analysis: Analysis, construct: str, biases: list[Estimate], key: str) -> Drawing:
    """A drawing that tells what it was given."""
    return Drawing(f"<svg>{[e.value for e in biases]}</svg>", f"{key}: {construct}")


DECLARED = FigureOf(
    "biases",
    "Biases",
    "{bias}, {level:.0%}.",
    by_construct,
    draw,
    "bias",
    note=lambda _analysis, panels: f" {len(panels)} panels.",
)
BIASES = [Estimate("bias", (key,), value=at) for at, key in enumerate(("QR", "CC", "QR"))]


def test_a_drawing_for_each_panel_with_what_is_in_it() -> None:
    analysis = with_estimates(*BIASES)
    (figure,) = DECLARED(analysis)
    assert [drawing.title for drawing in figure.drawings] == ["bias-0: QR", "bias-1: CC"]
    assert [drawing.svg for drawing in figure.drawings] == ["<svg>[0, 2]</svg>", "<svg>[1]</svg>"]
    assert figure.caption == f"{analysis.headings['bias']}, 95%. 2 panels."
    assert figure.data["value"].tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    "declared",
    [part for section in SECTIONS for part in section.figures if isinstance(part, FigureOf)],
    ids=lambda declared: declared.key,
)
def test_the_captions_of_every_declared_figure_can_be_filled(declared: FigureOf) -> None:
    assert declared.caption.format_map(Words(with_estimates()))


def test_no_figure_without_a_panel() -> None:
    assert list(DECLARED(with_estimates())) == []


def test_estimates_are_found_at_any_depth_in_their_order() -> None:
    first, second, third = BIASES
    panels = [("QR", [(second, first)], {"not": "looked into"}), ("CC", third)]
    assert list(estimates_in(panels)) == [second, first, third]


def test_a_scorer_is_named_where_there_are_several() -> None:
    panels = [("QR", "a", [1]), ("CC", "a", [2])]
    assert if_several(panels) == [("QR", "", [1]), ("CC", "", [2])]
    assert if_several([*panels, ("CC", "b", [3])]) == [*panels, ("CC", "b", [3])]
