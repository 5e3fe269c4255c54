"""Drawings without what matplotlib writes and nobody sees: a third of the bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from xml.etree import ElementTree

_NUMBER = re.compile(r"-?\d+\.\d+")
_COORDINATES = ("d", "points", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "transform")
_NO_ROTATION = re.compile(r"\s*rotate\(-?0 [^)]*\)")
#: The id in `url(#id)`, or in `#id` alone.
_REFERENCE = re.compile(r"(?:(?<=url\(#)|(?<=\A#))[^)]+")
#: Page-wide fonts are inherited; a line without dashes has no offset of dashes.
_UNUSED = {"font-family", "stroke-dashoffset"}


_STYLE = re.compile(r' style="([^"]*)"')


def shared_styles(svgs: Iterable[str]) -> dict[str, str]:
    """A class for each style that drawings of one page have, by the style."""
    styles = dict.fromkeys(style for svg in svgs for style in _STYLE.findall(svg))
    return {style: f"d{number}" for number, style in enumerate(styles)}


def with_classes(svg: str, classes: Mapping[str, str]) -> str:
    """A drawing with the classes of `shared_styles` in place of its styles."""
    return _STYLE.sub(lambda match: f' class="{classes[match[1]]}"', svg)


def compact(root: ElementTree.Element, key: str) -> None:
    """Shorten a drawing in place; `key` begins the ids that it keeps.

    Coordinates have a tenth of a point, those of markers, which are small, a hundredth. Ids
    that nothing refers to, groups without attributes, invisible shapes and spaces go.
    """
    _shorten(root, 1)
    _remove_invisible(root)
    names = {name: f"{key}-{number}" for number, name in enumerate(_references(root))}
    for node in root.iter():
        for name, value in list(node.attrib.items()):
            if name == "id" and value not in names:
                node.attrib.pop("id")
            elif name == "id":
                node.set(name, names[value])
            else:
                node.set(name, _REFERENCE.sub(lambda match: names[match[0]], value))
    _unwrap(root)


def _shorten(node: ElementTree.Element, digits: int) -> None:
    if _tag(node) == "defs":
        digits = 2
    for name in _COORDINATES:
        if name in node.attrib:
            value = _NUMBER.sub(lambda match: _rounded(match[0], digits), node.attrib[name])
            node.set(name, " ".join(value.split()))
    if "transform" in node.attrib:
        turned = _NO_ROTATION.sub("", node.attrib.pop("transform"))
        if turned:
            node.set("transform", turned)
    if "style" in node.attrib:
        kept = [
            f"{name.strip()}:{value.strip()}"
            for name, _, value in (part.partition(":") for part in node.attrib["style"].split(";"))
            if name.strip() and name.strip() not in _UNUSED
        ]
        node.set("style", ";".join(kept))
    if node.text and not node.text.strip():
        node.text = None
    if node.tail and not node.tail.strip():
        node.tail = None
    for child in node:
        _shorten(child, digits)


def _rounded(number: str, digits: int) -> str:
    text = f"{float(number):.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def _remove_invisible(node: ElementTree.Element) -> None:
    for child in list(node):
        _remove_invisible(child)
        empty = _tag(child) in {"g", "defs"} and not len(child)
        drawn = child.get("style", "")
        shape = _tag(child) in {"path", "rect"} and _tag(node) not in {"defs", "clipPath"}
        if empty or (shape and drawn in {"fill:none", "fill:none;opacity:0"}):
            node.remove(child)


def _references(root: ElementTree.Element) -> Iterator[str]:
    """The ids that the drawing itself refers to, each once."""
    values = (value for node in root.iter() for value in node.attrib.values() if "#" in value)
    yield from dict.fromkeys(name for value in values for name in _REFERENCE.findall(value))


def _unwrap(node: ElementTree.Element) -> None:
    """Put the content of groups without attributes in their place."""
    for child in list(node):
        _unwrap(child)
        if _tag(child) == "g" and not child.attrib:
            place = list(node).index(child)
            node.remove(child)
            for number, inner in enumerate(child):
                node.insert(place + number, inner)


def _tag(node: ElementTree.Element) -> str:
    return str(node.tag).rpartition("}")[2]
