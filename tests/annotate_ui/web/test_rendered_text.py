"""Rendered texts: nothing in them acts, and nothing that is written is hidden."""

import re
from html import unescape
from time import process_time

import pytest
from hypothesis import given, strategies as st

from annotate_ui.web.rendered_text import LONGEST, rendered
from tests.annotate_ui.participants.test_markdown import HOSTILE, Seen

ALLOWED = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTACKS = {
    **HOSTILE,
    "unclosed": "<b><i><table><tr><td><script>alert(1)",
    "closing": "</div></main></body><script>alert(1)</script>",
    "nested": "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "mixed": "`<script>`\n\n```\n</pre><script>alert(1)</script>\n```",
    "attribute": '<a href="data:text/html,<script>x</script>" onfocus=alert(1) autofocus>x</a>',
    "info": '``` "><script>alert(1)</script>\nx\n```',
    "formula": r"$<img src=x onerror=alert(1)>$ \(<script>alert(1)</script>\)",
    "cells": "| a | b |\n|---|---|\n| 1 | 2 | hidden |",
    "list-value": '7"onclick=alert(1). x',
    "long-line": "x" * 40_000,
    "long-emphasis": "*" * 20_000 + "a" + "_" * 20_000,
    "wide-table": "|"
    + "a|" * 2_000
    + "\n|"
    + "-|" * 2_000
    + "\n"
    + ("|" + "b|" * 2_000 + "\n") * 3,
    "nul": "a\x00b<script>",
    "open-formulas": "\\[" * 20_000,
    "dollars": "$a" * 20_000,
    "mutation": '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
}


def visible(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_in_a_hostile_text_acts(name: str) -> None:
    text = ATTACKS[name]
    start = process_time()
    html = rendered(text)
    assert process_time() - start < 20
    if html is None:
        return
    seen = Seen(str(html))
    assert seen.tags <= ALLOWED
    for tag, attribute, value in seen.attributes:
        assert (tag, attribute) in {("p", "class"), ("li", "value")}
        assert value in {"heading", "info"} or (value or "").isdecimal()


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("# One", '<p class="heading">One</p>'),
        ("- a\n- b", "<li>a</li>"),
        ("3. x\n9. y", '<li value="9">y</li>'),
        ("| a | b |\n|:-:|--:|\n| 1 | 2 |", "<td>2</td>"),
        ("```python\nif a < b:\n    pass\n```", "if a &lt; b:\n    pass"),
        ("```python title\nx\n```", '<p class="info">python title</p>'),
        ("one\ntwo", "one<br>\ntwo"),
        ("**b** *i* ~~s~~ `c`", "<strong>b</strong> <em>i</em> <s>s</s> <code>c</code>"),
        (r"is $a_1 * b_2 * c_3$ so", "<code>$a_1 * b_2 * c_3$</code>"),
        (r"\(x_{i}^*\) and \[y_*\]", r"<code>\(x_{i}^*\)</code>"),
        ("it costs $5 or $6 a_b_", "it costs $5 or $6 a_b_"),
        ("[text](https://a.example/?q=1)", "[text](https://a.example/?q=1)"),
        ("![alt](x.png) <https://a.example>", "![alt](x.png) &lt;https://a.example&gt;"),
        ("[a]: https://a.example", "[a]: https://a.example"),
        ("&#65;&#120;", "Ax"),
        ("<b>bold</b> &lt;", "&lt;b&gt;bold&lt;/b&gt; &lt;"),
    ],
)
def test_markdown_is_rendered_and_links_stay_text(text: str, piece: str) -> None:
    html = rendered(text)
    assert html is not None
    assert piece in html


def test_a_text_of_which_something_would_not_be_shown_is_not_rendered() -> None:
    assert rendered(ATTACKS["cells"]) is None
    assert rendered("") is None
    assert rendered("#") is None
    # A half of a surrogate pair, by its number.
    assert rendered("&#55296; x") is None
    # A table of a megabyte.
    assert rendered("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 100_000) is None
    assert rendered("x" * (LONGEST + 1)) is None


@given(st.text(st.sampled_from("ab1 \n`*_#|-~$\\()[]<>&;!.:\"'\t"), max_size=120))
def test_nothing_that_is_written_is_hidden(text: str) -> None:
    html = rendered(text)
    if html is None:
        return
    assert Seen(str(html)).tags <= ALLOWED
    shown = visible(str(html)) + "".join(re.findall(r'value="(\d+)"', html))
    for sign in "ab":
        assert shown.count(sign) >= unescape(text).count(sign)
