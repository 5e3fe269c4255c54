"""Responses, passages and references as rendered Markdown, in which nothing acts and nothing hides.

Of Markdown there are headings, emphasis, lists, tables, quotations and code. Links and images are
shown as they are written, HTML too, and formulas as code. A text of which rendering would hide a
letter or a digit is not rendered, so that a rater sees no less than the judge.
"""

import re
from collections import Counter
from functools import lru_cache
from html import escape, unescape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markupsafe import Markup

LONGEST = 50_000
"""Characters of a text; rendering a longer one would keep raters waiting."""

_TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"li": {"value"}, "p": {"class"}}
# Deeper nesting only serves to slow down the parser.
_DEEPEST = 20
_FORMULA = re.compile(
    r"\$\$.{1,1000}?\$\$|\\\[.{1,1000}?\\\]|\\\(.{1,1000}?\\\)"
    r"|\$(?![\s\d])[^$\n]*[^$\s\\]\$(?!\w)",
    re.DOTALL,
)
_NUMBER_OF_A_LIST = re.compile(r"^[ \t>*+-]*\d{1,9}[.)](?=\s|$)", re.MULTILINE)


@lru_cache(maxsize=512)
def rendered(text: str) -> Markup | None:
    """Return a text as HTML without links, images, scripts and attributes that act.

    None where it cannot be rendered: it is too long, or something of it would not be shown.
    """
    if len(text) > LONGEST:
        return None
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            # The headings of the page are its own.
            token.tag = "p"
            token.attrSet("class", "heading")
        elif token.type == "list_item_open" and token.info:
            # A browser would count 1, 2, 3 whatever is written.
            token.attrSet("value", token.info)
        else:
            # Alignment is a style, which the policy of the pages forbids.
            token.attrs.pop("style", None)
    html = nh3.clean(
        parser.renderer.render(tokens, parser.options, {}), tags=_TAGS, attributes=_ATTRIBUTES
    )
    return Markup(html) if _shows_all(text, html) else None  # noqa: S704


def _parser() -> MarkdownIt:
    parser = MarkdownIt(
        "commonmark", {"html": False, "breaks": True, "maxNesting": _DEEPEST}
    ).enable(["table", "strikethrough"])
    parser.disable(["link", "image", "autolink", "reference"])
    parser.inline.ruler.before("escape", "formula", _formula)
    parser.add_render_rule("fence", _fence)
    return parser


def _formula(state: StateInline, silent: bool) -> bool:
    """Keep a formula as it is written, whose signs Markdown would read as emphasis."""
    if state.src[state.pos] not in "$\\":
        return False
    found = _FORMULA.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    if not silent:
        state.push("code_inline", "code", 0).content = found[0]
    state.pos = found.end()
    return True


def _fence(_renderer: Any, tokens: Any, index: int, *_: Any) -> str:
    """Show a block of code with the words of its first line, which are part of the text."""
    token = tokens[index]
    info = f'<p class="info">{escape(token.info.strip())}</p>' if token.info.strip() else ""
    return f"{info}<pre><code>{escape(token.content)}</code></pre>"


def _shows_all(text: str, html: str) -> bool:
    """Whether every letter and digit of the text is in the HTML, numbers of lists aside."""
    shown = unescape(re.sub(r"<[^>]*>", "", html))
    written = _NUMBER_OF_A_LIST.sub("", unescape(text))
    if "\ufffd" in shown and "\ufffd" not in text:
        # Of a number that names no character.
        return False
    signs = _signs(shown)
    return not _signs(written) - signs and bool(signs or "<hr" in html)


def _signs(text: str) -> "Counter[str]":
    return Counter(sign for sign in text if sign.isalnum())
