"""Drawings take fewer bytes and show the same."""

import re
from xml.etree import ElementTree

import pytest

from analysis.render.compact_svg import compact, shared_styles, with_classes
from analysis.render.drawing import Drawing, as_svg, canvas


@pytest.fixture
def drawing() -> Drawing:
    with canvas(3, 2) as (figure, axes):
        axes.plot([0, 1, 2], [3, 1, 2], "o-")
        axes.set_xlabel("people")
        return as_svg(figure, "key", "A title", "described")


def test_every_id_that_is_referred_to_exists_and_no_other(drawing: Drawing) -> None:
    ids = set(re.findall(r'\bid="([^"]+)"', drawing.svg))
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', drawing.svg))
    assert ids == {a or b for a, b in used} | {"key-title", "key-desc"}
    assert all(name.startswith("key-") for name in ids)


def test_words_of_a_drawing_stay_text(drawing: Drawing) -> None:
    assert ">people</text>" in drawing.svg
    assert "font-family" not in drawing.svg


def test_coordinates_are_rounded_and_signs_kept() -> None:
    root = ElementTree.fromstring(
        '<svg><g id="a"><path d="M -0.04 1.2345 L -12.96 7.0" style="fill: red; " /></g>'
        '<text transform="rotate(-0 3 4)" x="1.26">a b</text>'
        '<text transform="translate(1.26 2) rotate(-90)">c</text></svg>'
    )
    compact(root, "k")
    assert ElementTree.tostring(root, encoding="unicode") == (
        '<svg><path d="M 0 1.2 L -13 7" style="fill:red" /><text x="1.3">a b</text>'
        '<text transform="translate(1.3 2) rotate(-90)">c</text></svg>'
    )


def test_markers_are_rounded_less() -> None:
    root = ElementTree.fromstring(
        '<svg><defs><path id="m" d="M 0.126 0"/></defs><use href="#m" x="5.55" y="1"/></svg>'
    )
    compact(root, "k")
    text = ElementTree.tostring(root, encoding="unicode")
    assert 'id="k-0" d="M 0.13 0"' in text
    assert 'href="#k-0"' in text


def test_styles_become_classes() -> None:
    svg = '<svg><path style="fill:red" /><path style="fill:none" /><path style="fill:red" /></svg>'
    classes = shared_styles([svg])
    assert classes == {"fill:red": "d0", "fill:none": "d1"}
    assert with_classes(svg, classes).count('class="d0"') == 2
