"""A parser of report pages, and the validator of report.json."""

from html.parser import HTMLParser
from typing import Any

import jsonschema

from analysis.pipeline.report_files import report_schema


def resolved(node: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema with what it refers to in place, which is validated in half the time."""
    if isinstance(node, list):
        return [resolved(part, definitions) for part in node]
    if not isinstance(node, dict):
        return node
    name = node.get("$ref", "").removeprefix("#/$defs/")
    parts = definitions[name] | node if name else node
    return {key: resolved(part, definitions) for key, part in parts.items() if key != "$ref"}


_SCHEMA = report_schema()
VALIDATOR = jsonschema.Draft202012Validator(
    resolved(_SCHEMA, _SCHEMA["$defs"]),
    format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
)


class Tags(HTMLParser):
    """Collects what a page loads, its ids, and whether tags close."""

    VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.loaded: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if attributes.get("id"):
            self.ids.append(str(attributes["id"]))
        for name in ("src", "href", "xlink:href", "action"):
            if attributes.get(name):
                self.loaded.append(str(attributes[name]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag


def read(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags
