"""Terms within sentences show their meaning; names of constructs too; texts are escaped."""

import pytest

from analysis.render.glossary import TERMS, Marked


def test_a_term_is_marked_where_it_occurs_first() -> None:
    mark = Marked({})
    text = str(mark("tau-b .4 and tau-b .5"))
    assert text.count('popovertarget="term-tau-b"') == 1
    assert text.startswith("<button")
    assert text.endswith("</button> .4 and tau-b .5")
    assert "popovertarget" not in mark("tau-b again")


def test_keys_of_constructs_have_their_names() -> None:
    marked = str(Marked({"QR": "Question Relevance", "plain": "plain"})("QR: a plain QRS (QR)"))
    assert marked.count('<abbr title="Question Relevance">QR</abbr>') == 2
    assert "QRS" in marked


def test_texts_are_escaped() -> None:
    mark = Marked({"<k>": '"><script>'})
    text = str(mark('<k>: <b>bias</b> & "x"'))
    assert "<b>" not in text
    assert "<script" not in text
    assert "&amp;" in text


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.key)
def test_every_term_can_be_marked(term: object) -> None:
    examples = {
        "interval": "its interval",
        "target": "for raters like these",
        "rates": "true negative rate",
        "correction": "after correction for 15 comparisons",
        "alternative-annotator": "the alternative annotator test",
    }
    key, name = term.key, term.name  # type: ignore[attr-defined]
    assert f"term-{key}" in Marked({})(examples.get(key, name))
