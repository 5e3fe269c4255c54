"""Markdown texts of the owner as HTML without active content.

Two safeguards, each sufficient: the parser accepts no HTML, and its output is cleaned with a short
list of elements. Images are not allowed, since raters' pages make no requests to other servers.
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
# Deeper nesting only serves to slow down the parser.
_DEEPEST = 20


@lru_cache(maxsize=16)
def markdown(text: str) -> Markup:
    """Return a Markdown text as HTML for a page whose own heading is of the first rank.

    Headings move down by one rank. HTML in the text is shown as text; an image is left out, and
    a link leads to http, https or a mail address only, in a new window.
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
