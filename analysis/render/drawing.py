"""Drawing with matplotlib into SVG whose colors are those of the page; forest plots.

Figures are drawn with placeholder colors, which become the page's custom properties: one drawing
serves light, dark and paper. Text stays text in the page's own font.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from analysis.render.compact_svg import compact
from analysis.render.labels import shortened

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


#: Placeholder to custom property; nothing else may use these colors.
TOKENS = {
    "#010203": "--ink",
    "#010204": "--muted",
    "#010205": "--rule",
    "#010206": "--accent",
    "#010207": "--soft",
    "#010208": "--page",
}
INK, MUTED, RULE, ACCENT, SOFT, PAGE = TOKENS

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_FONT_SIZE = re.compile(r"([\d.]+)px")

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ccrs",
    # Names come from data: a dollar sign in one starts no formula.
    "text.parse_math": False,
    "font.size": 8,
    "axes.labelsize": 7.5,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": RULE,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "text.color": INK,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.unicode_minus": True,
}


#: Points from the top of a drawing to its first line of heading, and from line to line.
_HEAD, _LINE = 10.0, 10.0

#: Characters of a heading's first line (bold) and of the others that an inch holds.
_BOLD_AN_INCH, _SMALL_AN_INCH = 12.5, 16.5


@dataclass(frozen=True)
class Drawing:
    """One inline SVG with its accessible title and description."""

    svg: str
    title: str


@contextmanager
def canvas(width: float, height: float) -> Iterator[tuple[Canvas, Axes]]:
    """A figure of this size in inches with one pair of axes, in the report's style."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # A name in a script that matplotlib's own font lacks is still drawn by the page's font.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        figure = Canvas(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure, figure.add_subplot()


def head(figure: Canvas, *lines: str) -> None:
    """Lines over the axes from the drawing's left edge on, the first one bold; cut where long.

    Empty lines are left out, so that a panel names its scorer only where there are several.
    """
    width, height = figure.get_size_inches() * 72
    printed = [line for line in lines if line]
    for number, line in enumerate(printed):
        an_inch = _SMALL_AN_INCH if number else _BOLD_AN_INCH
        figure.text(
            0,
            1 - (_HEAD + _LINE * number) / height,
            shortened(line, int(an_inch * width / 72)),
            size=7 if number else 8.5,
            weight="normal" if number else "bold",
            color=MUTED if number else INK,
        )
    heading_height = (_HEAD + _LINE * len(printed)) / height - 4 / height
    figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - heading_height))


def as_svg(figure: Canvas, key: str, title: str, description: str) -> Drawing:
    """The figure as inline SVG; `key` makes its ids unique on the page."""
    # As in matplotlib's style sheet for all elements, which is shared by the page's drawings.
    root = _drawn(figure, without=("metadata", "style"))
    for node in root.iter():
        if "style" in node.attrib:
            node.set("style", _with_tokens(node.attrib["style"]))
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    compact(root, key)
    root.set("role", "img")
    root.set("aria-labelledby", f"{key}-title {key}-desc")
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        node = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": f"{key}-{tag}"})
        node.text = text
        root.insert(place, node)
    return Drawing(ElementTree.tostring(root, encoding="unicode"), title)


def as_image(figure: Canvas, colors: Mapping[str, str]) -> str:
    """The figure as an SVG file, with a color for each of `TOKENS`.

    It has no style sheet and no style attribute, so that it is drawn under any security policy.
    """
    root = _drawn(figure, without=("metadata", "style"))
    # As in matplotlib's style sheet for all elements.
    root.attrib.update({"stroke-linejoin": "round", "stroke-linecap": "butt"})
    for node in root.iter():
        style = node.attrib.pop("style", "")
        for name, _, value in (part.partition(":") for part in style.split(";") if part.strip()):
            _set_attribute(node, name.strip(), colors.get(value.strip(), value.strip()))
    return ElementTree.tostring(root, encoding="unicode")


def _drawn(figure: Canvas, without: Sequence[str] = ("metadata",)) -> ElementTree.Element:
    """The figure as an SVG element, without the elements of these names."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    engine = figure.get_layout_engine()
    if engine is not None:
        # The layout is computed here, since `savefig` would draw everything twice for it.
        engine.execute(figure)
        figure.set_layout_engine("none")
    out = StringIO()
    plain: Any = FigureCanvasSVG(figure)
    plain.print_svg(out, metadata={"Date": None, "Creator": None})
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    root = ElementTree.fromstring(out.getvalue())  # noqa: S314  (our own drawing)
    for parent in root.iter():
        for child in list(parent):
            if child.tag.rpartition("}")[2] in without:
                parent.remove(child)
    return root


def _set_attribute(node: ElementTree.Element, name: str, value: str) -> None:
    """Set a property of CSS as an attribute of SVG, which has no shorthand for fonts."""
    if name != "font":
        node.set(name, value)
        return
    size = _FONT_SIZE.search(value)
    node.set("font-size", size[1] if size else "8")
    node.set("font-family", "system-ui, sans-serif")
    if value.startswith("bold") or " bold" in value or "700" in value:
        node.set("font-weight", "bold")


def _with_tokens(style: str) -> str:
    """A style with the page's custom properties in place of the colors that stand for them."""
    for color, token in TOKENS.items():
        style = style.replace(color, f"var({token})")
    return style


@dataclass(frozen=True)
class Figure:
    """Drawings on common axes, to be read together; `data` is what is drawn."""

    key: str
    title: str
    caption: str
    drawings: tuple[Drawing, ...]
    data: pd.DataFrame
    wide: bool = False
    """One drawing over the whole column, rather than small multiples."""


def name_rows(
    axes: Axes,
    heights: npt.ArrayLike,
    names: Sequence[str],
    *,
    top: float = 0.6,
    grid: bool = True,
) -> None:
    """Names at the heights of the rows, without an axis, and vertical lines to read values by.

    `top` is the room above the uppermost row, in rows.
    """
    axes.set_ylim(-0.6, len(names) - 1 + top)
    axes.set_yticks(heights, names)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    if grid:
        axes.grid(axis="x", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
