"""Markdown of the owner's own, as HTML that can do nothing but be read.

Two fences, either of which is enough: the parser takes no HTML, and what it makes is cleaned
against a short list. There are no images, since a page of raters asks no other server for anything.
"""

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_TAGS = {
    *("h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code"),
    *("em", "strong", "s", "a", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}
# Deeper, a text is an attempt at the parser rather than an outline.
_DEEPEST = 20


@lru_cache(maxsize=16)
def markdown(text: str) -> Markup:
    """Return a Markdown text as HTML for a page whose own heading is of the first rank.

    Headings move down by one rank. HTML in the text is shown as text; an image is left out, and
    a link leads to http, https or a mail address only, in a window of its own.
    """
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    parser.enable(["table", "strikethrough"])
    tokens = parser.parse(text)
    for token in tokens:
        _move_down(token)
    html = nh3.clean(
        parser.renderer.render(tokens, parser.options, {}),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return Markup(html)  # noqa: S704


def _move_down(token: Token) -> None:
    if token.type in {"heading_open", "heading_close"}:
        token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
