"""Markdown becomes HTML that can only be read."""

import re
from html.parser import HTMLParser

import pytest

from annotate_ui.participants.consent import markdown

_ALLOWED = {
    *("h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code"),
    *("em", "strong", "s", "a", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "handler": "<p onclick=alert(1)>x</p>",
    "svg": "<svg/onload=alert(1)>",
    "svg-script": "<svg><script>alert(1)</script></svg>",
    "image": "![x](https://evil.example/x.png)",
    "image-html": "<img src=x onerror=alert(1)>",
    "image-title": '![x](x "onerror=alert(1)")',
    "javascript": "[x](javascript:alert(1))",
    "javascript-case": "[x](JaVaScRiPt:alert(1))",
    "javascript-entity": "[x](&#106;avascript:alert(1))",
    "javascript-tab": "[x](java\tscript:alert(1))",
    "javascript-bracket": "[x](<javascript:alert(1)>)",
    "javascript-ref": "[x]\n\n[x]: javascript:alert(1)",
    "autolink": "<javascript:alert(1)>",
    "data": "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "vbscript": "[x](vbscript:msgbox(1))",
    "file": "[x](file:///etc/passwd)",
    "breakout": '[x](https://a.example/"onmouseover="alert(1))',
    "title": '[x](https://a.example "t\\" onmouseover=\\"alert(1)")',
    "style": "<style>body{display:none}</style>",
    "iframe": "<iframe src=https://evil.example></iframe>",
    "form": "<form action=https://evil.example><input name=a></form>",
    "base": "<base href=https://evil.example>",
    "meta": "<meta http-equiv=refresh content=0>",
    "comment": "<!-- --><script>alert(1)</script>",
    "cdata": "<![CDATA[<script>alert(1)</script>]]>",
    "code": "```<script>\n<script>alert(1)</script>\n```",
    "fence-class": '```js" onclick="alert(1)\nx\n```',
    "table": "| <script>a</script> | b |\n|---|---|\n| ![x](y) | [z](javascript:a) |",
    "template": "{{ config }} {% raw %}",
    "math": "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "nesting": "> " * 5000 + "x",
    "brackets": "[" * 20_000,
    "stars": "*a_" * 20_000,
    "rtl": "\u202e[x](https://a.example)\u202c",
}


class Seen(HTMLParser):
    """Every element and attribute that a browser would make of it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_but_text_comes_of_a_hostile_text(name: str) -> None:
    seen = Seen(str(markdown(HOSTILE[name])))
    assert seen.tags <= _ALLOWED
    for tag, attribute, value in seen.attributes:
        assert (tag, attribute) in {
            *(("a", part) for part in ("href", "title", "rel", "target")),
            ("ol", "start"),
        }
        if attribute == "href":
            assert re.match(r"(https?|mailto):", value or ""), value


def test_a_link_opens_in_another_tab_without_a_referrer() -> None:
    html = markdown('[x](https://a.example/?q=1&r=2 "Title")')
    (link,) = re.findall("<a [^>]*>", html)
    assert 'rel="noopener noreferrer"' in link
    assert 'target="_blank"' in link
    assert 'href="https://a.example/?q=1&amp;r=2"' in link


def test_tables_lists_and_headings_are_kept() -> None:
    html = markdown("# One\n\n###### Six\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n3. x\n4. **y**\n")
    for piece in (
        "<h2>One</h2>",
        "<h6>Six</h6>",
        "<th>a</th>",
        "<td>2</td>",
        '<ol start="3">',
        "<strong>y</strong>",
    ):
        assert piece in html
    assert "<h1" not in html


def test_html_is_shown_as_the_text_that_it_is() -> None:
    assert "&lt;script&gt;" in markdown("<script>alert(1)</script>")
