"""The pages' words: none is left out of the catalogues, and a catalogue is what a page shows."""

import json
import re
from collections.abc import Callable, Iterator
from gettext import NullTranslations
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from babel import Locale
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po
from flask import Flask

from annotate_ui.participants.enrolment import make_link
from annotate_ui.participants.invitation import invite
from annotate_ui.web.app import create_app
from annotate_ui.web.owner.password import set_password
from annotate_ui.web.rate_limits import limiter
from annotate_ui.web.translation import TRANSLATIONS, direction, read_catalogue, words_of
from study import Study
from study.errors import StudyError
from tests.annotate_ui.compared_campaign import open_one, pair_up
from tests.annotate_ui.designed_campaign import configure, teach
from tests.annotate_ui.rated_campaign import fill, give
from tests.annotate_ui.web.conftest import Browser

PACKAGE = Path(__file__).parents[3] / "annotate_ui"
RENEW = "renew the catalogues with the commands in CONTRIBUTING.md, and translate what is new"
_FIELD = re.compile(r"%\((\w+)\)s|%%")
SHIPPED = sorted(TRANSLATIONS.glob("*.po"))

# Every address that shows a page; a new one is named here with what leads to it.
WITHOUT_SESSION = ("/", "/join", "/join/refused", "/left", "/withdrawn", "/no/such/page")
OF_A_RATER = ("/rate", "/rate/history", "/withdraw", "/rate?why=waiting", "/rate/nothing/1")
OF_THE_OWNER = (
    "/owner",
    "/owner/raters",
    "/owner/people",
    "/owner/comments",
    "/owner/activity",
    "/owner/items",
    "/owner/enough",
    "/owner/adjudication",
    "/owner/export",
    "/owner/judge",
)
ELSEWHERE = {
    "static",
    "static_control",
    "owner.chart",
    "owner.days_chart",
    "owner.values_chart",
    "owner.running",
    "rating.step",
    "rating.feedback",
    "rating.end",
    "rating.compare",
    "enrolling.offer",
    "consenting.consent",
    "consenting.declined",
    "consenting.instructions",
    "owner.sign_in",
    "owner.item",
    "owner.rater",
}
"""Endpoints whose pages the tests below come to on the way, and those that show none."""


def found_in_the_code() -> dict[Any, bool]:
    """Return every message that the code marks, and whether a script has it."""
    keywords = {**DEFAULT_KEYWORDS, "mark": None}
    methods = [
        ("web/translations/**", "ignore"),
        ("**.py", "python"),
        ("web/templates/**.html", "jinja2"),
        ("web/static/**.js", "javascript"),
        ("web/controls/**.html", "jinja2"),
        ("web/controls/**.js", "javascript"),
    ]
    found: dict[Any, bool] = {}
    for file, _, message, _, _ in extract_from_dir(str(PACKAGE), methods, keywords=keywords):
        found[message] = found.get(message, False) or file.endswith(".js")
    return found


def messages(path: Path) -> dict[Any, Any]:
    """Return the messages of a catalogue and their translations."""
    with path.open("rb") as file:
        return {
            message.id: message
            for message in read_po(file, locale=None if path.suffix == ".pot" else path.stem)
            if message.id
        }


def test_the_template_contains_the_messages_of_the_code() -> None:
    template, code = messages(TRANSLATIONS / "messages.pot"), found_in_the_code()
    assert sorted(map(str, code.keys() - template.keys())) == [], f"missing: {RENEW}"
    assert sorted(map(str, template.keys() - code.keys())) == [], f"no longer used: {RENEW}"
    # Pages send scripts the words whose location in the template is a script.
    of_scripts = {
        identity
        for identity, message in template.items()
        if any(file.endswith(".js") for file, _ in message.locations)
    }
    assert of_scripts == {message for message, script in code.items() if script}, RENEW


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_catalogue_is_complete(path: Path) -> None:
    wanted, there = messages(TRANSLATIONS / "messages.pot"), messages(path)
    missing = [
        identity for identity in wanted if identity not in there or not there[identity].string
    ]
    assert sorted(map(str, missing)) == [], RENEW
    for identity, message in there.items():
        assert not message.fuzzy, identity
        originals = [identity] if isinstance(identity, str) else list(identity)
        translations = [message.string] if isinstance(message.string, str) else list(message.string)
        assert all(translations), identity
        fields = {name for text in originals for name in _FIELD.findall(text)}
        for text in translations:
            assert "%" not in _FIELD.sub("", text), identity
            assert set(_FIELD.findall(text)) == fields, identity


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_plural_forms_are_those_of_the_language(path: Path) -> None:
    with path.open("rb") as file:
        catalogue = read_po(file)
    plural = read_catalogue(path).plural  # type: ignore[attr-defined]
    language = Locale.parse(path.stem)
    forms = {(plural(count), language.plural_form(count)) for count in range(1000)}
    assert len(forms) == len(dict(forms)) == catalogue.num_plurals, "a category for each form"
    for message in catalogue:
        if isinstance(message.id, tuple) and message.string:
            assert len(message.string) == catalogue.num_plurals, message.id


class Bracketed(NullTranslations):
    """Every text of the pages in brackets, so that one without them is noticed."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, singular: str, plural: str, n: int) -> str:
        return f"⟦{singular if n == 1 else plural}⟧"


class Seen(HTMLParser):
    """The words of a page that a reader meets, without the texts of the study."""

    SPOKEN = ("aria-label", "title", "placeholder", "alt", "aria-valuetext")
    EMPTY = frozenset({"input", "meta", "link", "br", "img", "hr", "col", "source", "wbr"})

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._skipping: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if not self._skipping:
            self.words += [value for name in self.SPOKEN if (value := attributes.get(name))]
        if tag in self.EMPTY:
            return
        untranslated = tag in {"script", "style", "bdi", "time", "textarea", "code", "svg"}
        if self._skipping or untranslated or ("lang" in attributes and tag != "html"):
            self._skipping.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._skipping and tag not in self.EMPTY:
            self._skipping.pop()

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self.words.append(data)


def left_in_english(page: str, known: tuple[str, ...]) -> list[str]:
    """Return the words of a page that are outside of brackets."""
    seen = Seen()
    seen.feed(page)
    left = []
    for text in seen.words:
        depth = 0
        outside = ""
        for sign in text:
            depth += (sign == "⟦") - (sign == "⟧")
            outside += sign if depth == 0 and sign != "⟧" else " "
        left += [
            word for word in re.findall(r"[^\W\d_][\w.-]*", outside) if word not in {*known, "UTC"}
        ]
    return left


class Walk:
    """Goes through pages and notes what is not translated."""

    def __init__(self, known: tuple[str, ...]) -> None:
        self.known = known
        self.left: dict[str, list[str]] = {}
        self.visited: set[str] = set()

    def look(self, browser: Browser, address: str) -> str:
        """Open an address, and return the page."""
        answer = browser.get(address)
        return self.note(address, answer.get_data(as_text=True))

    def note(self, name: str, page: str) -> str:
        assert "⟦" in page, f"{name} is not a page of words: {page[:200]}"
        if left := left_in_english(page, self.known):
            self.left[name] = left
        return page


@pytest.fixture
def bracketed(study: Study) -> Iterator[Flask]:
    """Return a campaign whose pages have every word in brackets."""
    fill(study, queries=2, systems=2)
    give(study, "anna")
    give(study, "ben")
    app = create_app(study, b"k" * 32)
    app.config["WORDS"] = Bracketed()
    yield app
    limiter.reset()


def come(app: Flask, study: Study, code: str) -> Browser:
    """Let a rater in."""
    (made,) = invite(study, [code], renew=True)
    browser = Browser(app.test_client())
    browser.begin(made.link)
    return browser


def test_every_page_of_a_rater_is_translated(bracketed: Flask, study: Study) -> None:
    walk = Walk((study.config.name, "anna", "ben"))
    visitor = Browser(bracketed.test_client())
    for address in WITHOUT_SESSION:
        walk.look(visitor, address)
    walk.look(visitor, "/rate")
    anna = come(bracketed, study, "anna")
    for address in OF_A_RATER:
        walk.look(anna, address)
    for _ in range(20):
        page = anna.go_on()
        walk.note(anna.at, page.get_data(as_text=True))
        if anna.at == "/rate/end":
            break
        for key in re.findall(r'data-key="(\w+)"', page.get_data(as_text=True)):
            anna.save(key, 50.0)
        walk.look(anna, anna.at)
    assert anna.at == "/rate/end"
    walk.note("end", anna.submit("/rate/end", recognized="no").get_data(as_text=True))
    for address in OF_A_RATER:
        walk.look(anna, address)
    ben = come(bracketed, study, "ben")
    page_id = open_one(study, pair_up(study, "ben"))
    walk.look(ben, f"/compare/{page_id}")
    assert walk.left == {}


def test_pages_of_a_designed_campaign_are_translated(bracketed: Flask, study: Study) -> None:
    (study.folder / "consent.md").write_text("", encoding="utf-8")
    teach(study, 4)
    walk = Walk((study.config.name, "anna", "ben", "carl"))
    with_training = bracketed.config["STUDY"]
    configure(
        with_training,
        design={"training": 1, "training_attempts": 2},
        rating={"completion_code": "CODE9", "completion_url": "https://example.org/?c={code}"},
    )
    walk.known = (*walk.known, "CODE9")
    anna = come(bracketed, study, "anna")
    for _ in range(12):
        answer = anna.go_on()
        page = walk.note(anna.at, answer.get_data(as_text=True))
        if "why=training_failed" in str(answer.request.url):
            break
        for key in re.findall(r'data-key="(\w+)"', page):
            anna.save(key, 1.0)
    assert "training_failed" in str(answer.request.url)
    _, link = make_link(study, "pool", quota=5)
    visitor = Browser(bracketed.test_client())
    address = link.partition("8350")[2]
    walk.look(visitor, address)
    assert walk.left == {}


def test_consent_and_instructions_are_translated(study: Study) -> None:
    (study.folder / "text.md").write_text("1. 2. 3.\n", encoding="utf-8")
    fill(study, queries=1)
    give(study, "anna")
    configure(study, rating={"consent": "text.md", "instructions": "text.md"})
    app = create_app(study, b"k" * 32)
    app.config["WORDS"] = Bracketed()
    walk = Walk((study.config.name, "anna"))
    anna = come(app, study, "anna")
    page = walk.look(anna, "/consent")
    text = re.search(r'name="text" value="(\w+)"', page)
    assert text is not None
    declined = anna.submit("/consent", answer="decline", text=text[1])
    walk.note("declined", declined.get_data(as_text=True))
    anna.submit("/consent", answer="agree", text=text[1])
    walk.look(anna, "/instructions")
    limiter.reset()
    assert walk.left == {}


def test_the_owners_pages_are_translated(bracketed: Flask, study: Study) -> None:
    set_password(study, "three plain random words")
    known = (study.config.name, "anna", "ben", *(c.key for c in study.config.constructs))
    walk = Walk((*known, "system-0", "system-1", "q0", "question-0", "response-0-0"))
    owner = Browser(bracketed.test_client())
    walk.look(owner, "/owner/sign-in")
    owner.submit("/owner/sign-in", password="three plain random words")
    for address in OF_THE_OWNER:
        page = walk.look(owner, address)
        for linked in re.findall(r'href="(/owner/(?:raters|items)/[^"]+)"', page)[:1]:
            walk.look(owner, linked)
    assert walk.left == {}


def test_no_page_is_forgotten(study: Study) -> None:
    app = create_app(study, b"k" * 32)
    named = {
        app.url_map.bind("x").match(address.partition("?")[0])[0]
        for address in (*WITHOUT_SESSION[:-1], *OF_A_RATER, *OF_THE_OWNER)
    }
    pages = {rule.endpoint for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    assert pages - named - ELSEWHERE == set(), "name it above, with what leads to it"


def settings(study: Study, text: str) -> Study:
    """Return the study with these settings of `[rating]`."""
    with (study.folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[rating]\n{text}\n")
    study.close()
    return Study.open(study.folder)


@pytest.mark.parametrize("language", ["de", "de-AT"])
def test_german_pages(study: Study, language: str) -> None:
    study = settings(study, f'interface_language = "{language}"')
    page = create_app(study, b"k" * 32).test_client().get("/join").get_data(as_text=True)
    assert f'<html lang="{language}" dir="ltr"' in page
    assert "Sie sind eingeladen" in page
    block = re.search(r'<script type="application/json" id="words">(.*?)</script>', page)
    assert block is not None
    sent = json.loads(block[1])
    assert sent["words"]["saved"] == "gespeichert"
    assert sent["words"]["%(num)s match"] == ["%(num)s Treffer", "%(num)s Treffer"]
    assert sent["plural"][:3] == "101"


def test_a_studys_own_catalogue(study: Study) -> None:
    (study.folder / "own.po").write_text(
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
        'msgid "You are invited to rate"\nmsgstr "</script><b>ברוכים הבאים"\n\n'
        'msgid "saved"\nmsgstr "</script><b>נשמר"\n',
        encoding="utf-8",
    )
    study = settings(study, 'interface_language = "he"\ncatalogue = "own.po"')
    page = create_app(study, b"k" * 32).test_client().get("/join").get_data(as_text=True)
    assert 'lang="he" dir="rtl"' in page
    assert "&lt;/script&gt;&lt;b&gt;ברוכים" in page
    assert "</script><b>" not in page
    assert ">Begin<" in page, "what a catalogue leaves out stays in English"


def _wrong(name: str, text: str | None) -> Callable[[Study], Study]:
    def made(study: Study) -> Study:
        if text is not None:
            (study.folder / name).write_text(text, encoding="utf-8")
        return settings(study, f'interface_language = "fr"\ncatalogue = "{name}"')

    return made


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            lambda study: settings(study, 'interface_language = "it"'),
            "en, ar, de, es, fr, zh",
        ),
        (_wrong("fr.po", None), "can't be read"),
        (_wrong("fr.po", 'msgid "a"\nthis is nothing\n'), "is not a gettext catalogue"),
        (
            _wrong("fr.po", 'msgid "%(left)s left"\nmsgstr "encore %(reste)s"\n'),
            r"names %\(reste\)s, which is not in the original",
        ),
        (_wrong("fr.po", 'msgid "half"\nmsgstr "50 %"\n'), "a single percent sign"),
        (_wrong("fr.po", 'msgid "%(n)s left"\nmsgstr "%(n)d"\n'), "a single percent sign"),
    ],
    ids=["unknown language", "absent", "broken", "unknown name", "percent sign", "no text"],
)
def test_a_catalogue_that_can_not_be_used(
    study: Study, made: Callable[[Study], Study], message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        words_of(made(study))


@pytest.mark.parametrize(
    ("language", "wanted"),
    [("en", "ltr"), ("ar", "rtl"), ("fa-IR", "rtl"), ("uz-Arab", "rtl"), ("az-Latn", "ltr")],
    ids=["en", "ar", "fa-IR", "uz-Arab", "az-Latn"],
)
def test_directions_of_languages(language: str, wanted: str) -> None:
    assert direction(language) == wanted
